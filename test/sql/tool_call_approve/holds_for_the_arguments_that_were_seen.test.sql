-- A word is given for a call with its arguments: where they are other ones by the time that it would run, it does not.
begin;
select plan(5);

select tool('erase', 'unsafe', 'dangerous');
select agent('{"tools": ["erase"], "require_approval": "dangerous"}');
select submit('Fix it');
select claim();
select from turn_record(item(), lease(), (iteration_begin(item(), lease()) ->> 'turn_id')::uuid, '{"stop_reason": "tool_use", "content": [
  {"type": "tool_use", "id": "a", "name": "erase", "input": {"path": "a"}}, {"type": "tool_use", "id": "b", "name": "erase", "input": {"path": "b"}}]}');
select from iteration_finish(item(), lease());

select from tool_calls k, tool_call_approve(k.id);
select is((select count(*)::integer from approvals where decision = 'approved'), 2, 'both calls are approved');
update tool_calls set rewritten_input = '{"path": "/"}' where provider_id = 'b';
create temporary table stage as select iteration_begin(id, (focus_claim(id, 'w') ->> 'lease')::uuid) as answer from item;
select is((select answer #>> '{calls,0,input,path}' from stage), 'a', 'the one that was seen runs');
select is((select json_array_length(answer -> 'calls') from stage), 1, 'and no other');
select results_eq($$ select status, is_error from tool_calls where provider_id = 'b' $$, $$ values ('failed', true) $$, 'the one that was changed behind the approval does not');
select is((select result #>> '{}' from tool_calls where provider_id = 'b'), '[engine] Not executed: its arguments are not those that were approved.', 'and the model is told why');

select * from finish();
rollback;
