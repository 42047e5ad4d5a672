-- What the newest step before a fork named is kept when the fork is compacted.
begin;
select plan(2);

select tool('read_file');
select agent('{"tools": ["look", "read_file"], "elide_budget": 1000000, "keep_budget": 2000, "keep_auto": 0, "context_window": 60000, "compact_keep_recent": 2, "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select submit('Fix it');
select play('[
  [["read_file", {"path": "src/parse.ts"}, "the parser"]],
  [["ledger_append", {"entry_type": "step", "content": "Read it", "keep": ["src/parse.ts"]}], ["look"]]]');
select take(work_fork(turn()));
select play(format('[[["look", "%s"]]]', repeat('long ', 500))::jsonb) from generate_series(1, 6) n;
select context_compact(item());
select drive();
select is((select compaction_type from compactions), 'ledger', 'the fork is compacted');
select alike(kept(9), '%the parser%', 'what the step before it named is kept');

select * from finish();
rollback;
