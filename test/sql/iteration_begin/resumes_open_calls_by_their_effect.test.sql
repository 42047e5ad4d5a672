-- After a crash the calls of the response are resumed by what they do: what only looks runs again, what may have happened is uncertain.
begin;
select plan(8);

select tool('pay', 'unsafe', 'dangerous');
select agent('{"tools": ["look", "pay"]}'), submit();
select drive(), answer('[["look"], ["pay"], ["pay"]]');

select tool_call_begin(item(), lease(), call('t1_1')), tool_call_begin(item(), lease(), call('t1_2'));
select is(begin_iteration() ->> 'kind', 'run_tools', 'the model is not asked again while calls are open');
select is(json_array_length(stage() -> 'calls'), 2, 'two calls are to be run');
select is((select status from tool_calls where id = call('t1_1')), 'pending', 'a pure call that was running runs again');
select is((select status from tool_calls where id = call('t1_2')), 'uncertain', 'an unsafe call that was running is uncertain');
select alike((select result::text from tool_calls where id = call('t1_2')), '%may or may not have happened%', 'the model is told that it may have happened');
select is((select status from tool_calls where id = call('t1_3')), 'pending', 'an unsafe call that had not begun runs');
select is((select call_count from turns), 1, 'no request was made for the resumption');

delete from abilities where name = 'look';
select is(begin_iteration() #>> '{calls,0,name}', 'look', 'a call of a tool that is gone is still answered');

select * from finish();
rollback;
