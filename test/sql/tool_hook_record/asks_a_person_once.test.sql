begin;
select plan(4);

select from ability_register('send', 'Sends.', '{"type": "object"}', 'unsafe', 'dangerous');
select from faculty_save('{"name": "worker", "accepts": ["analyze"], "engage": {"tools": ["send"], "require_approval": "dangerous"}, "hooks": {"before_tool": "guard"}}');
create temporary table item as select * from work_submit('analyze', 'Fix it');
create temporary table held as select (focus_claim((select id from item), 'w') ->> 'lease')::uuid as lease;
create temporary table turn as select (iteration_begin((select id from item), (select lease from held)) ->> 'turn_id')::uuid as id;
select from turn_record((select id from item), (select lease from held), (select id from turn), '{"stop_reason": "tool_use", "content": [{"type": "tool_use", "id": "a", "name": "send", "input": {}}]}');
create function pg_temp.hooked() returns jsonb language sql as $$
  select tool_hook_record((select id from item), (select lease from held), (select id from tool_calls), 'before_tool', '{"exit_code": 0, "stdout": ""}');
$$;
select is(pg_temp.hooked(), '{"kind": "waiting"}', 'the call waits for approval');
select is(pg_temp.hooked(), '{"kind": "waiting"}', 'and when the worker did not hear so, it says it again');
select is((select count(*)::integer from v_approvals), 1, 'asked once');
select is((select status from tool_calls), 'waiting', 'it waits');

select * from finish();
rollback;
