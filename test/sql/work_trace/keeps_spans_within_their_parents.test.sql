-- A span is within the span that it happened in: digests of first requests, also of those made anew, and code that runs again after a wait.
begin;
select plan(11);

create function pg_temp.outside() returns setof text language sql as $$
  select s.name || ' of ' || p.name from work_trace(item()) s join work_trace(item()) p on p.span_id = s.parent_span_id
   where (s.started_at < p.started_at or s.ended_at > p.ended_at) and p.name <> 'work.item' $$; -- which is over before its attempts begin

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
select is((select count(*) from work_trace(item()) where attributes ->> 'work.span' = 'sandbox.tool.call'), 1::bigint, 'it is there');

-- A summary that is written before the first request of a fork, or never.
select agent('{"tools": ["look"], "ledger_nudge_interval": 0, "compact_keep_recent": 1, "elide_budget": 1000000}', '{"awareness": {"enabled": false}}');
select submit('A fifth task');
create function pg_temp.go() returns void language sql as $$
  select drive(), answer('[["look"]]'), run(format('[["look", "%s"]]', repeat('seen ', 4000))::jsonb), iteration_finish(item(), lease()) $$;
select pg_temp.go(), later('1 second') from generate_series(1, 3);
create temporary table told as select id from turns where work_item_id = item() and iteration = 3;
select take(work_fork(id, 'Otherwise')), claim(), context_compact(item()), later('1 second') from told;
select is(begin_iteration() ->> 'kind', 'summarize', 'a fork begins with a summary');
select later('1 second');
select summary_record(item(), lease(), turn(), '{"content": [{"type": "text", "text": "Looked."}], "stop_reason": "end_turn", "usage": {"input_tokens": 700, "output_tokens": 3}}');
select begin_iteration(), later('1 second'), answer('[["look"]]'), run('[["look"]]'), iteration_finish(item(), lease());
select from work_cancel(item());
select is_empty($$ select * from pg_temp.outside() $$, 'which is within its work');
select take(work_fork(id, 'Once more')), claim(), context_compact(item()), later('1 second'), begin_iteration(), later('1 second') from told;
select from work_cancel(item());
select is_empty($$ select * from pg_temp.outside() $$, 'as is one that was never written');
select is((select string_agg((s.attributes ->> 'work.span') || coalesce(' of ' || (p.attributes ->> 'work.span'), ''), ', ' order by s.attributes ->> 'work.span') from work_trace(item()) s left join work_trace(item()) p on p.span_id = s.parent_span_id),
  'gen_ai.chat of work.context.compaction, work.context.compaction of work.engage.iteration, work.engage of work.execute, work.engage.iteration of work.engage, work.execute of work.item, work.item, work.orient of work.execute',
  'and each of its spans has its parent');

select * from finish();
rollback;
