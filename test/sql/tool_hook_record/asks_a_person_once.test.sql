begin;
select plan(4);

select tool('send', 'unsafe', 'dangerous');
select agent('{"tools": ["send"], "require_approval": "dangerous"}', '{"hooks": {"before_tool": "guard"}}');
select submit('Fix it');
select drive();
select from turn_record(item(), lease(), turn(), '{"stop_reason": "tool_use", "content": [{"type": "tool_use", "id": "a", "name": "send", "input": {}}]}');
create function pg_temp.hooked() returns jsonb language sql as $$
  select tool_hook_record(item(), lease(), (select id from tool_calls), 'before_tool', '{"exit_code": 0, "stdout": ""}');
$$;
select is(pg_temp.hooked(), '{"kind": "waiting"}', 'the call waits for approval');
select is(pg_temp.hooked(), '{"kind": "waiting"}', 'and when the worker did not hear so, it says it again');
select is((select count(*)::integer from v_approvals), 1, 'asked once');
select is((select status from tool_calls), 'waiting', 'it waits');

select * from finish();
rollback;
