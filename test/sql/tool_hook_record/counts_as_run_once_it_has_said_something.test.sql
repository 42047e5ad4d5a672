-- After a crash a call's hook is asked again only if it had not been heard: one that failed has run, one that was under way has not.
begin;
select plan(5);

select tool('send', 'unsafe');
select agent('{"tools": ["look", "send"]}', '{"hooks": {"before_tool": "guard", "on_failure": "allow"}}');
select submit('Fix it');
select drive();
select answer('[["look"], ["send"]]');
create function pg_temp.cleared(p_ordinal integer) returns boolean language sql as $$ select (_open_calls(turn())::jsonb #>> array[p_ordinal::text, 'is_cleared'])::boolean $$;
select is(pg_temp.cleared(0), false, 'a hook that nobody heard of has not run');
select tool_hook_record(item(), lease(), call('t1_1'), 'before_tool', '{"exit_code": 3, "stdout": "", "stderr": "no disk"}');
select is(pg_temp.cleared(0), true, 'a hook that failed has run, and is not run again');
select is((select status from hook_runs where tool_call_id = call('t1_1')), 'failed', 'though it failed');
insert into hook_runs (work_item_id, focus_id, hook, command, tool_call_id, status) select item(), focus(), 'before_tool', 'guard', call('t1_2'), 'pending';
select is(pg_temp.cleared(1), false, 'a hook that was under way when its worker died is run again');
select tool_hook_record(item(), lease(), call('t1_2'), 'before_tool', '{"exit_code": 0, "stdout": ""}');
select is(pg_temp.cleared(1), true, 'and then it has run');

select * from finish();
rollback;
