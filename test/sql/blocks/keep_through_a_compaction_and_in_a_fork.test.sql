-- What the newest step named is kept through a compaction and in a fork, and not by a later attempt, which has not seen it.
begin;
select plan(6);

select agent('{"tools": ["read_file", "edit_file", "write_file", "web_fetch", "bash"], "elide_budget": 0, "keep_budget": 2000, "keep_auto": 0, "context_window": 60000, "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select submit('Fix it');

select play(format('[
  [["read_file", {"path": "src/parse.ts"}, "the parser"]],
  [["edit_file", {"path": "src/parse.ts", "old_string": "a"}, "Edited."]],
  [["ledger_append", {"entry_type": "step", "content": "Read it", "keep": ["src/parse.ts"]}], ["bash", {"command": "true"}, "ok"]],
  [["bash", {"command": "true"}, "%s"]]]', repeat('long ', 8000))::jsonb);
select play(format('[[["bash", {"command": "true"}, "%s %s"]]]', n, repeat('long ', 500))::jsonb) from generate_series(1, 6) n;
select from context_compact(item());
select play('[[["bash", {"command": "true"}, "ok"]]]');
select is((select compaction_type from compactions), 'ledger', 'the conversation was compacted');
select matches(kept(11), 'the parser.*edit_file', 'a compaction keeps what the newest step named');

-- A fork from before the cut: its step names what the other one read.
select take(work_fork((select turn_id from request where n = 2)));
select play('[
  [["ledger_append", {"entry_type": "step", "content": "Took it over", "keep": ["parse.ts"]}], ["bash", {"command": "true"}, "ok"]],
  [["bash", {"command": "true"}, "ok"]]]');
select matches(kept(13), 'the parser.*edit_file', 'a fork keeps what its step names, read before the fork');
select is(rebuilt(), 13::bigint, 'every request is rebuilt to the byte');

-- An attempt that begins anew has read nothing yet.
select give_up();
update work_items set run_at = now() where id = item();
select play('[
  [["read_file", {"path": "src/lex.ts"}, "the lexer"]],
  [["ledger_append", {"entry_type": "step", "content": "Read", "keep": ["src/parse.ts", "src/lex.ts"]}], ["bash", {"command": "true"}, "ok"]],
  [["bash", {"command": "true"}, "ok"]]]');
select matches(kept(16), 'the lexer', 'a later attempt keeps what it read itself');
select unalike(kept(16), '%the parser%', 'a later attempt does not keep what the one before it read');

select * from finish();
rollback;
