-- A block comes back whole though a compaction stands in it: one made before the engine drafted the step that closed the block.
begin;
select plan(4);

select agent('{"tools": ["read_file"], "ledger_nudge_interval": 1, "keep_budget": 0, "compact_keep_recent": 0, "compact_strategy": "sliding_window"}', '{"awareness": {"enabled": false}}');
select submit('Read them all');
select play(format('[[["read_file", {"path": "%s.ts"}, "seen %s"]]]', path, repeat('x', size))::jsonb) from (values ('a', 40000), ('b', 40000), ('c', 100)) v(path, size);
select from context_compact(item());
select play(format('[[["read_file", {"path": "d.ts"}, "seen %s"]]]', repeat('x', 100))::jsonb);

select is(
  (select array_agg(turn_type || coalesce(' ' || l.entry_type, '') order by t.id) from turns t left join work_ledger l on l.turn_id = t.id where t.work_item_id = item()),
  array['normal', 'normal', 'normal step', 'compaction', 'normal'],
  'a step was drafted for the third response when the fourth request was made, behind the compaction');
select is((select _block_of(t) from turns t where t.iteration = 3), 2, 'the third response opens block 2');
select matches(recall_block(item(), 2), 'c\.ts.*d\.ts', 'block 2 comes back with what was done before the compaction');
select doesnt_match(recall_block(item(), 2), 'b\.ts', 'block 2 comes back with nothing of block 1');

select * from finish();
rollback;
