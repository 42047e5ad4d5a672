-- What a step names is kept while there is room for it; what has none is named with a handle. Each step replaces the list of the one before.
begin;
select plan(8);

select agent('{"tools": ["read_file", "edit_file", "write_file", "web_fetch", "bash"], "elide_budget": 0, "keep_budget": 2000, "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select submit('Fix it');

select play('[
  [["read_file", {"path": "src/parse.ts"}, "the parser"], ["read_file", {"path": "src/lex.ts"}, "the lexer"], ["read_file", {"path": "notes.md"}, "the notes"]],
  [["ledger_append", {"entry_type": "step", "content": "Read it", "keep": ["src/parse.ts", "lex.ts"]}], ["bash", {"command": "true"}, "ok"]]]');
select play(format('[
  [["read_file", {"path": "big.txt"}, "%s"], ["web_fetch", {"url": "https://example.org/api"}, "the page"]],
  [["ledger_append", {"entry_type": "step", "content": "Read more", "keep": ["big.txt", "https://example.org/api", "notes.md"]}]],
  [["bash", {"command": "true"}, "ok"]]]', repeat('big ', 4000))::jsonb);
select matches(kept(5), E'the page.*the notes', 'a page is kept, and what is from a block that left before');
select unalike(kept(5), '%the parser%', 'each step''s list replaces the one before');
select is(artifact_read((regexp_match(kept(5), 'no room for them: big\.txt \(artifact_read\("([0-9a-f]{16})"\)\)'))[1]), repeat('big ', 4000), 'what has no room is named with a handle that brings it back');
select is((select count(*) from explain_turn((select turn_id from request where n = 5)) where shown = 'kept'), 2::bigint, 'explain_turn says what is kept');

select play(format('[
  [["ledger_append", {"entry_type": "step", "content": "Named a handle", "keep": ["%s", "lex.ts"]}]],
  [["bash", {"command": "true"}, "ok"]]]', (select left(content_hash, 16) from artifacts where content like 'big %'))::jsonb);
select matches(kept(7), 'the lexer.*no room for them: [0-9a-f]{16} \(artifact_read', 'a step may name a handle');
select play('[
  [["ledger_append", {"entry_type": "step", "content": "Read it again", "keep": ["lex.ts"]}], ["read_file", {"path": "src/lex.ts"}, "the lexer"]],
  [["bash", {"command": "true"}, "ok"]]]');
select is(kept(9), null, 'what is still shown is not said twice');
select is(rebuilt(), 9::bigint, 'every request is rebuilt to the byte');
select throws_ok($$ select ledger_append((select id from work_submit('analyze', 'x')), 'step', 'Done', p_keep => array_fill('a'::text, array[21])) $$, 'WL002', null, 'a step names twenty things at most');

select * from finish();
rollback;
