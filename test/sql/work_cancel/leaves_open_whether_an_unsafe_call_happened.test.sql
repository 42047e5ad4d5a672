-- A call that a cancel cuts off may have taken effect; only one that cannot have, or that does no harm, has failed.
begin;
select plan(4);

select from ability_register('look', 'Looks.', '{"type": "object"}', 'pure', 'safe');
select from ability_register('pay', 'Pays.', '{"type": "object"}', 'unsafe', 'safe');
select from faculty_save('{"name": "worker", "accepts": ["analyze"], "engage": {"tools": ["look", "pay"]}}');
create temporary table item as select * from work_submit('analyze', 'Fix it');
create temporary table held as select (focus_claim((select id from item), 'w') ->> 'lease')::uuid as lease;
select from held, turn_record((select id from item), lease, (iteration_begin((select id from item), lease) ->> 'turn_id')::uuid, '{"stop_reason": "tool_use", "content": [
  {"type": "tool_use", "id": "done", "name": "pay", "input": {}}, {"type": "tool_use", "id": "running", "name": "pay", "input": {}},
  {"type": "tool_use", "id": "looking", "name": "look", "input": {}}, {"type": "tool_use", "id": "later", "name": "pay", "input": {}}]}');
select from held, tool_calls k, tool_call_begin((select id from item), lease, k.id) where k.provider_id <> 'later';
select from held, tool_calls k, tool_call_settle((select id from item), lease, k.id, 'paid') where k.provider_id = 'done';
select from work_cancel((select id from item), 'no longer wanted');

create function pg_temp.of(p_id text) returns text language sql as $$ select status || ': ' || (result #>> '{}') from tool_calls where provider_id = p_id $$;
select is(pg_temp.of('running'), 'uncertain: [engine] Stopped: no longer wanted.', 'an unsafe call that ran may have happened');
select is(pg_temp.of('looking'), 'failed: [engine] Stopped: no longer wanted.', 'one that only looks has failed');
select is(pg_temp.of('later'), 'failed: [engine] Stopped: no longer wanted.', 'an unsafe one that had not begun, too');
select is(pg_temp.of('done'), 'completed: paid', 'what was done stays done');

select * from finish();
rollback;
