-- An approval holds for a call with its arguments: where they are other ones by the time that it would run, it does not.
begin;
select plan(5);

select tool('erase', 'unsafe', 'dangerous');
select agent('{"tools": ["erase"], "require_approval": "dangerous"}');
select submit('Fix it');
select play('[[["erase", {"path": "a"}], ["erase", {"path": "b"}]]]');

select from tool_calls k, tool_call_approve(k.id);
select is((select count(*)::integer from approvals where decision = 'approved'), 2, 'both calls are approved');
update tool_calls set rewritten_input = '{"path": "/"}' where id = call('t1_2');
select drive();
select is(stage() #>> '{calls,0,input,path}', 'a', 'the call whose arguments were seen runs');
select is(json_array_length(stage() -> 'calls'), 1, 'no other call runs');
select results_eq($$ select status, is_error from tool_calls where id = call('t1_2') $$, $$ values ('failed', true) $$, 'the call that was changed behind its approval does not run');
select is((select result #>> '{}' from tool_calls where id = call('t1_2')), '[engine] Not executed: its arguments are not those that were approved.', 'the model is told why the call did not run');

select * from finish();
rollback;
