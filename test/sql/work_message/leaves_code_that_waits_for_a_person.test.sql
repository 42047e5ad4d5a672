begin;
select plan(7);

select tool('execute_code', 'idempotent');
select tool('send', 'unsafe', 'dangerous');
select agent('{"tools": ["send"], "code_execution": true, "require_approval": "dangerous"}');
select submit('Fix it');
create temporary table held (lease uuid);
create function pg_temp.begin() returns jsonb language plpgsql as $$
begin
  delete from held;
  insert into held select (focus_claim(item(), 'w') ->> 'lease')::uuid;
  return iteration_begin(item(), (select lease from held));
end
$$;
create temporary table turn as select (pg_temp.begin() ->> 'turn_id')::uuid as id;
create temporary table code as select (turn_record(item(), (select lease from held), (select id from turn), '{"stop_reason": "tool_use", "content": [
  {"type": "tool_use", "id": "a", "name": "send", "input": {}}, {"type": "tool_use", "id": "b", "name": "execute_code", "input": {"code": "send()"}}]}') #>> '{calls,0,id}')::uuid as id;
select from tool_call_begin(item(), (select lease from held), (select id from code));
select is(tool_call_nested(item(), (select lease from held), (select id from code), 0, 'send', '{}') ->> 'kind', 'waiting', 'code waits for approval, as a call beside it does');
select from tool_call_suspend(item(), (select lease from held), (select id from code));

-- Before the iteration is parked.
select from work_message(item(), 'Stop', true);
select is((select count(*)::integer from v_approvals), 2, 'what waits goes on waiting');
select from tool_call_approve((select id from tool_calls where parent_call_id = (select id from code)));
select is(pg_temp.begin() ->> 'calls', '[]', 'the item goes on');
select is(iteration_finish(item(), (select lease from held)) ->> 'kind', 'continued', 'to what was approved');
select is(pg_temp.begin() #>> '{calls,0,id}', (select id::text from code), 'which is code, run again');
select is(tool_call_nested(item(), (select lease from held), (select id from code), 0, 'send', '{}') ->> 'kind', 'run', 'as far as its call');
select tool_call_settle(item(), (select lease from held), (select id from code), 'done');
select is(iteration_finish(item(), (select lease from held)) ->> 'kind', 'parked', 'and what nobody has spoken on waits');

select * from finish();
rollback;
