-- Between two iterations nobody holds the lease; the item is its focus's all the same.
begin;
select plan(6);

select from ability_register('look', 'Looks.', '{"type": "object"}', 'pure', 'safe');
select from faculty_save('{"name": "worker", "accepts": ["analyze"], "engage": {"tools": ["look"]}}');
create temporary table item as select * from work_submit('analyze', 'Fix it');
create temporary table held as select (focus_claim((select id from item), 'w') ->> 'lease')::uuid as lease;
select throws_ok($$ select work_complete((select id from item), 'Done') $$, 'WL005', null, 'who has no lease does not complete what is being driven');
select from held, turn_record((select id from item), lease, (iteration_begin((select id from item), lease) ->> 'turn_id')::uuid,
  '{"stop_reason": "tool_use", "content": [{"type": "tool_use", "id": "a", "name": "look", "input": {}}]}');
select from held, tool_calls k, tool_call_settle((select id from item), lease, k.id, 'seen');
select from held, iteration_finish((select id from item), lease);
select results_eq($$ select state, lease_token, focus_id is not null from work_items $$, $$ values ('running', null::uuid, true) $$, 'between iterations nobody holds the lease');
select throws_ok($$ select work_complete((select id from item), 'Done') $$, 'WL005', null, 'nor then does anybody complete it');
select throws_ok($$ select work_fail((select id from item), 'No use') $$, 'WL005', null, 'or fail it');
select throws_ok($$ select spawn_child_work((select id from item), 'analyze', 'A part') $$, 'WL005', null, 'or delegate from it');
select is((select state from work_items), 'running', 'and it goes on');

select * from finish();
rollback;
