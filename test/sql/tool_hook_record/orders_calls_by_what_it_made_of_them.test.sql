-- A call that a hook leads to another path waits for the call that changes that path, and no longer for the one it was meant for.
begin;
select plan(2);

select tool('write_file', 'unsafe'), tool('read_file');
select agent('{"tools": ["write_file", "read_file"]}', '{"hooks": {"before_tool": "guard"}}');
select submit('Fix it');
select drive(), answer('[["write_file", {"path": "a"}], ["read_file", {"path": "b"}], ["read_file", {"path": "a"}]]');
create function pg_temp.led(p_n integer, p_path text) returns jsonb language sql as $$
  select tool_hook_record(item(), lease(), call('t1_' || p_n), 'before_tool', jsonb_build_object('exit_code', 0, 'stdout', jsonb_build_object('input', jsonb_build_object('path', p_path))::text))::jsonb $$;
select tool_hook_record(item(), lease(), call('t1_1'), 'before_tool', '{"exit_code": 0, "stdout": ""}'), tool_call_begin(item(), lease(), call('t1_1'));
select pg_temp.led(2, 'a'), pg_temp.led(3, 'c');
select is(tool_call_begin(item(), lease(), call('t1_2')), array[call('t1_1')], 'a read that was led to what another call writes waits for it');
select is(tool_call_begin(item(), lease(), call('t1_3')), '{}', 'one that was led away waits for nothing');

select * from finish();
rollback;
