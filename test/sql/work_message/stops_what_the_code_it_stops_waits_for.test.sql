begin;
select plan(6);

select from ability_register('execute_code', 'Runs.', '{"type": "object"}', 'idempotent', 'safe');
select from ability_register('send', 'Sends.', '{"type": "object"}', 'unsafe', 'dangerous');
select from faculty_save('{"name": "worker", "accepts": ["analyze"], "engage": {"tools": ["send"], "code_execution": true, "require_approval": "dangerous"}}');
create temporary table item as select * from work_submit('analyze', 'Fix it');
create temporary table held (lease uuid);
create function pg_temp.claim() returns jsonb language plpgsql as $$
declare
  v_claim jsonb := focus_claim((select id from item), 'w');
begin
  delete from held;
  insert into held values ((v_claim ->> 'lease')::uuid);
  return v_claim;
end
$$;
select from pg_temp.claim();
create temporary table turn as select (iteration_begin((select id from item), (select lease from held)) ->> 'turn_id')::uuid as id;
create temporary table code as select (turn_record((select id from item), (select lease from held), (select id from turn), '{"stop_reason": "tool_use", "content": [
  {"type": "tool_use", "id": "a", "name": "execute_code", "input": {"code": "send()"}}]}') #>> '{calls,0,id}')::uuid as id;
select from tool_call_begin((select id from item), (select lease from held), (select id from code));
select is(tool_call_nested((select id from item), (select lease from held), (select id from code), 0, 'send', '{}') ->> 'kind', 'waiting', 'a call of the code waits for approval');

select from work_message((select id from item), 'Stop', true);
select is((select count(*)::integer from tool_calls where completed_at is null), 0, 'with the code its call is stopped');
select is((select count(*)::integer from v_approvals), 0, 'and nobody is asked any more');
select is(pg_temp.claim() ->> 'kind', 'claimed', 'the item goes on');
select is(iteration_begin((select id from item), (select lease from held)) #>> '{calls}', '[]', 'with nothing open');
select is(iteration_finish((select id from item), (select lease from held)) ->> 'kind', 'continued', 'to its next request');

select * from finish();
rollback;
