-- Code waits for the approval of a call of its own and ends in another way: its call is over, nobody is asked any more, and who
-- decides all the same is told why not.
begin;
select plan(12);

select tool('execute_code', 'idempotent');
select tool('send', 'unsafe', 'dangerous');
select agent('{"tools": ["send"], "code_execution": true, "require_approval": "dangerous"}');
create temporary table held (item uuid, lease uuid, code uuid, call uuid);
create function pg_temp.waiting_code() returns held language plpgsql as $$
declare
  v_held held;
begin
  v_held.item := (work_submit('analyze', 'Fix it')).id;
  v_held.lease := focus_claim(v_held.item, 'w') ->> 'lease';
  v_held.code := turn_record(v_held.item, v_held.lease, (iteration_begin(v_held.item, v_held.lease) ->> 'turn_id')::uuid, '{"stop_reason": "tool_use", "content": [
    {"type": "tool_use", "id": "a", "name": "execute_code", "input": {"code": "send()"}}]}') #>> '{calls,0,id}';
  perform tool_call_begin(v_held.item, v_held.lease, v_held.code);
  perform tool_call_nested(v_held.item, v_held.lease, v_held.code, 0, 'send', '{}');
  v_held.call := (select id from tool_calls where parent_call_id = v_held.code);
  return v_held;
end
$$;
create function pg_temp.decide(p_call uuid) returns text language plpgsql as $$
begin
  perform tool_call_approve(p_call);
  return 'approved';
exception when others then
  return sqlstate || ': ' || replace(sqlerrm, p_call::text, 'X');
end
$$;

insert into held select * from pg_temp.waiting_code();
select tool_call_settle(item, lease, code, '[timeout] The code did not end in 120 s.', true) from held;
select is(pg_temp.decide(call), 'WL008: tool call X cannot be approved: it is over: [engine] Stopped: the code that called it ended.', 'of code that returned, or ran out of time') from held;
select is((select decision from approvals where tool_call_id = call), 'expired', 'its approval has expired') from held;

delete from held;
insert into held select * from pg_temp.waiting_code();
select from tool_hook_record((select item from held), (select lease from held), (select code from held), 'after_tool', '{"stdout": "", "exit_code": 0}', 'returned');
select is(pg_temp.decide(call), 'WL008: tool call X cannot be approved: it is over: [engine] Stopped: the code that called it ended.', 'of code whose result went through a hook') from held;
select is(iteration_finish(item, lease) ->> 'kind', 'continued', 'and nothing keeps its iteration open') from held;

delete from held;
insert into held select * from pg_temp.waiting_code();
select from work_message((select item from held), 'Stop', true);
select is(pg_temp.decide(call), 'WL008: tool call X cannot be approved: it is over: [engine] Stopped: a person interrupted.', 'of code that a person stopped') from held;
select throws_ok(format($$ select tool_call_reject('%s') $$, call), 'WL008', null, 'nor is it rejected') from held;

delete from held;
insert into held select * from pg_temp.waiting_code();
select from work_cancel((select item from held));
select is(pg_temp.decide(call), 'WL008: tool call X cannot be approved: its work item is cancelled', 'of work that was cancelled') from held;

delete from held;
insert into held select * from pg_temp.waiting_code();
select from tool_call_suspend((select item from held), (select lease from held), (select code from held));
select is(iteration_finish(item, lease) ->> 'kind', 'parked', 'the item waits') from held;
select from _focus_end((select w from work_items w where id = (select item from held)), 'failed', 'retry', 'given up', null);
select is((select state from work_items where id = item), 'queued', 'its attempt is given up') from held;
select is(pg_temp.decide(call), 'WL008: tool call X cannot be approved: it is over: [engine] Stopped: given up.', 'of an attempt that was given up') from held;

select is((select count(*)::integer from v_approvals), 0, 'nobody is asked any more');
select is((select count(*)::integer from approvals where decision is null), 0, 'about any of them');

select * from finish();
rollback;
