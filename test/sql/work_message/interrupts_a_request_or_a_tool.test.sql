-- An interruption ends the request or the calls that are under way; the next request says why.
begin;
select plan(8);

select tool('look', 'unsafe');
select agent('{"tools": ["look"], "elide_budget": 0, "ledger_nudge_interval": 0}');
select submit('Fix it');

select drive();
select from work_message(item(), 'Stop that, look at April.', true);
select throws_ok($$ select answer('[]') $$, 'WL004', null, 'a response that comes after the interruption is refused');
select matches(drive() #>> '{request,messages}', 'look at April', 'the next request has the message');
select is((select count(*) from turns where status = 'failed' and error ->> 'class' = 'interrupted'), 1::bigint, 'the request that was interrupted is kept');

select answer('[["look"], ["look"]]');
select tool_call_begin(item(), lease(), id) from tool_calls where ordinal = 0;
select from work_message(item(), 'Stop that too.', true);
select is((select status from tool_calls where ordinal = 0), 'uncertain', 'an unsafe call that ran may have happened');
select is((select status from tool_calls where ordinal = 1), 'failed', 'a call that had not begun did not happen');
select is(drive() ->> 'kind', 'run_tools', 'after an interruption the calls are settled first');
select is(json_array_length(stage() -> 'calls'), 0, 'no call is left to run');
select from iteration_finish(item(), lease());
select matches(drive() #>> '{request,messages}', 'a person interrupted.*Stop that too', 'the model is told why its calls were stopped');

select * from finish();
rollback;
