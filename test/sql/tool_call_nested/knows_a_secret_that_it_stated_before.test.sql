-- Code that states a secret makes the same call when it runs again after a crash: the row has [redacted] in its place.
begin;
select plan(3);

select tool('execute_code', 'idempotent');
select agent('{"code_execution": true, "tools": ["look"]}');
select submit('Fix it');
create function pg_temp.nested() returns json language sql as $$
  select tool_call_nested(item(), lease(), (select id from tool_calls where tool_name = 'execute_code'), 0, 'look', json_build_object('key', concat('sk-ant-', 'api03-', repeat('a1B2', 8)))) $$;
select drive(), answer('[["execute_code", {"code": "x"}]]'), tool_call_begin(item(), lease(), call('t1_1'));
select pg_temp.nested(), tool_call_settle(item(), lease(), call('t1_1.1'), 'seen');
select is((select input ->> 'key' from tool_calls where tool_name = 'look'), '[redacted]', 'the row has no secret');
select iteration_release(item(), lease());
select is(drive() #>> '{calls,0,name}', 'execute_code', 'the code runs again');
select is(pg_temp.nested() ->> 'content', 'seen', 'its call is answered from the record');

select * from finish();
rollback;
