-- A span is within the span that it happened in: digests of first requests, also of those made anew, and code that runs again after a wait.
begin;
select plan(7);

create function pg_temp.outside() returns setof text language sql as $$
  select s.name || ' of ' || p.name from work_trace(item()) s join work_trace(item()) p on p.span_id = s.parent_span_id
   where s.started_at < p.started_at or s.ended_at > p.ended_at $$;

-- By the real clock.
select agent('{"tools": ["look"]}');
select submit('Another task');
select ledger_append(item(), 'finding', 'Something to tell');
select submit('A task');
select drive(), answer('[["look"]]'), run('[["look"]]'), iteration_finish(item(), lease());
select is((select count(*) from work_trace(item()) s join work_trace(item()) p on p.span_id = s.parent_span_id
            where s.name = 'work.awareness.digest' and p.name = 'work.orient'), 1::bigint, 'the first digest is made while the agent is oriented');
select is((select s.ended_at <= p.ended_at from work_trace(item()) s join work_trace(item()) p on p.span_id = s.parent_span_id
            where s.name = 'work.awareness.digest' and p.name = 'work.orient'), true, 'and is ready when that is over');

select set_config('work_ledger.now', clock_timestamp()::text, true);
select submit('A third task');
select drive(), later('1 second');
select iteration_fail(item(), lease(), '{"class": "context_overflow", "message": "too long"}'), later('1 minute');
select drive(), later('1 second'), answer('[["look"]]'), run('[["look"]]'), iteration_finish(item(), lease());
select is((select string_agg(p.name, ', ' order by s.ended_at) from work_trace(item()) s join work_trace(item()) p on p.span_id = s.parent_span_id
            where s.name = 'work.awareness.digest'), 'work.orient, work.engage.iteration', 'the digest of a request that is made anew belongs to the iteration');
select is((select count(*) from work_trace(item()) where name = 'work.engage.iteration'), 1::bigint, 'which is one');

select tool('erase', 'unsafe', 'dangerous'), tool('execute_code', 'idempotent');
select agent('{"tools": ["look", "erase"], "code_execution": true, "require_approval": "dangerous"}', '{"awareness": {"enabled": false}}');
select submit('A fourth task');
select drive(), later('1 second'), answer('[["execute_code", {"code": "x"}]]'), later('1 second');
create temporary table code as select id from tool_calls where work_item_id = item() and tool_name = 'execute_code';
select tool_call_begin(item(), lease(), id), later('1 second') from code;
select is((select tool_call_nested(item(), lease(), id, 0, 'erase', '{}') ->> 'kind' from code), 'waiting', 'code calls what a person has to approve');
select tool_call_suspend(item(), lease(), id), iteration_finish(item(), lease()), later('1 minute') from code;
select tool_call_approve(id), later('1 second') from tool_calls where tool_name = 'erase';
select drive(), later('1 second');
select tool_call_begin(item(), lease(), id), later('1 second') from code;
select tool_call_begin(item(), lease(), id), later('1 second') from tool_calls where tool_name = 'erase';
select tool_call_settle(item(), lease(), n.id, 'erased'), later('1 second'), tool_call_settle(item(), lease(), c.id, 'done'), iteration_finish(item(), lease())
  from code c, tool_calls n where n.tool_name = 'erase';
select is_empty($$ select * from pg_temp.outside() $$, 'a call of code that waited is within the code, which ran again');
select is((select count(*) from work_trace(item()) where name = 'sandbox.tool.call'), 1::bigint, 'it is there');

select * from finish();
rollback;
