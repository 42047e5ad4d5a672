-- A block comes back whole though a compaction stands in it: one made before the engine drafted the step that closed the block.
begin;
select plan(4);

select from ability_register('read_file', 'Reads.', '{"type": "object"}', 'pure', 'safe');
select from faculty_save('{"name": "worker", "accepts": ["analyze"], "awareness": {"enabled": false},
  "engage": {"tools": ["read_file"], "ledger_nudge_interval": 1, "keep_budget": 0, "compact_keep_recent": 0, "compact_strategy": "sliding_window"}}');
create temporary table item as select * from work_submit('analyze', 'Read them all');

create function pg_temp.read(p_path text, p_size integer) returns void language plpgsql as $$
declare
  v_lease uuid := (focus_claim((select id from item), 'w') ->> 'lease')::uuid;
  v_turn uuid := (iteration_begin((select id from item), v_lease) ->> 'turn_id')::uuid;
begin
  perform turn_record((select id from item), v_lease, v_turn, json_build_object('stop_reason', 'tool_use', 'content',
    json_build_array(json_build_object('type', 'tool_use', 'id', p_path, 'name', 'read_file', 'input', json_build_object('path', p_path)))));
  perform tool_call_settle((select id from item), v_lease, k.id, 'seen ' || repeat('x', p_size)) from tool_calls k where k.turn_id = v_turn;
  perform iteration_finish((select id from item), v_lease);
end
$$;

select from pg_temp.read('a.ts', 40000);
select from pg_temp.read('b.ts', 40000);
select from pg_temp.read('c.ts', 100);
select from context_compact((select id from item));
select from pg_temp.read('d.ts', 100);

select is(
  (select array_agg(turn_type || coalesce(' ' || l.entry_type, '') order by t.id) from turns t left join work_ledger l on l.turn_id = t.id where t.work_item_id = (select id from item)),
  array['normal', 'normal', 'normal step', 'compaction', 'normal'],
  'a step was drafted for the third response when the fourth request was made, behind the compaction');
select is((select _block_of(t) from turns t where t.iteration = 3), 2, 'the third response opens block 2');
select matches(recall_block((select id from item), 2), 'c\.ts.*d\.ts', 'block 2 comes back with what was done before the compaction');
select doesnt_match(recall_block((select id from item), 2), 'b\.ts', 'and with nothing of block 1');

select * from finish();
rollback;
