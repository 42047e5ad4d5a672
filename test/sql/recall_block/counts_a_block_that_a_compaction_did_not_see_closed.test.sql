-- A step that the engine drafts behind a compaction closes a block. Its number is that of no other block, though the attempt ends before the next response.
begin;
select plan(4);

select agent('{"tools": ["read_file"], "ledger_nudge_interval": 1, "keep_budget": 0, "compact_keep_recent": 0, "compact_strategy": "sliding_window"}', '{"awareness": {"enabled": false}}');
select submit('Read them all');
select play(format('[[["read_file", {"path": "%s.ts"}, "seen %s"]]]', path, repeat('x', size))::jsonb) from (values ('a', 40000), ('b', 40000), ('c', 100)) v(path, size);
select from context_compact(item());
select drive();
select give_up();

select is((select turn_type from turns where id = _newest_turn(item())), 'compaction', 'the attempt ended with a compaction');
select matches(recall_block(item(), 2), 'c\.ts', 'the block opened by the third response comes back before anything follows it');

select later('1 hour');
select play(format('[[["read_file", {"path": "d.ts"}, "seen %s"]]]', repeat('x', 100))::jsonb);

select is((select _block_of(t) from turns t where t.focus_id = focus() and t.iteration = 1), 3, 'the second attempt begins with a block of its own');
select ok(recall_block(item(), 2) ~ 'c\.ts' and recall_block(item(), 2) !~ 'd\.ts', 'block 2 comes back with nothing of the second attempt');

select * from finish();
rollback;
