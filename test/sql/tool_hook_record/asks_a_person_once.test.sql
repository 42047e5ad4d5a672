-- A call that a hook let go still needs its approval, which is asked for once.
begin;
select plan(4);

select tool('send', 'unsafe', 'dangerous');
select agent('{"tools": ["send"], "require_approval": "dangerous"}', '{"hooks": {"before_tool": "guard"}}');
select submit('Fix it');
select drive();
select answer('[["send"]]');
create function pg_temp.hooked() returns jsonb language sql as $$
  select tool_hook_record(item(), lease(), call('t1_1'), 'before_tool', '{"exit_code": 0, "stdout": ""}');
$$;

select is(pg_temp.hooked(), '{"kind": "waiting", "input": {}, "is_rewritten": false}', 'the call waits for approval');
select is(pg_temp.hooked(), '{"kind": "waiting", "input": {}, "is_rewritten": false}', 'a worker that did not hear it is told again that the call waits');
select is((select count(*)::integer from v_approvals), 1, 'the approval is asked for once');
select is((select status from tool_calls), 'waiting', 'the call waits');

select * from finish();
rollback;
