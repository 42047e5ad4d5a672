-- Between two iterations nobody holds the lease; the item is its focus's all the same.
begin;
select plan(6);

select agent('{"tools": ["look"]}');
select submit('Fix it');
select claim();
select throws_ok($$ select work_complete(item(), 'Done') $$, 'WL005', null, 'who has no lease does not complete what is being driven');
select from turn_record(item(), lease(), (iteration_begin(item(), lease()) ->> 'turn_id')::uuid,
  '{"stop_reason": "tool_use", "content": [{"type": "tool_use", "id": "a", "name": "look", "input": {}}]}');
select from tool_calls k, tool_call_settle(item(), lease(), k.id, 'seen');
select from iteration_finish(item(), lease());
select results_eq($$ select state, lease_token, focus_id is not null from work_items $$, $$ values ('running', null::uuid, true) $$, 'between iterations nobody holds the lease');
select throws_ok($$ select work_complete(item(), 'Done') $$, 'WL005', null, 'nor then does anybody complete it');
select throws_ok($$ select work_fail(item(), 'No use') $$, 'WL005', null, 'or fail it');
select throws_ok($$ select spawn_child_work(item(), 'analyze', 'A part') $$, 'WL005', null, 'or delegate from it');
select is((select state from work_items), 'running', 'and it goes on');

select * from finish();
rollback;
