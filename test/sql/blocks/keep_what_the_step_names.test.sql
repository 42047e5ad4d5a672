begin;
select plan(14);

select agent('{"tools": ["read_file", "edit_file", "write_file", "web_fetch", "bash"], "elide_budget": 0, "keep_budget": 2000, "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select submit('Fix it');


select play('[
  [["read_file", {"path": "src/parse.ts"}, "OLD parse"], ["read_file", {"path": "src/lex.ts"}, "the lexer"], ["read_file", {"path": "notes.md"}, "the notes"]],
  [["read_file", {"path": "src/parse.ts"}, "NEW parse"]],
  [["edit_file", {"path": "src/parse.ts", "old_string": "a", "new_string": "b"}, "Edited."], ["edit_file", {"path": "src/parse.ts", "old_string": "c", "new_string": "d"}, "failed: not found"]],
  [["ledger_append", {"entry_type": "step", "content": "Read it", "keep": ["./src/parse.ts", "lex.ts", "never.ts", "src/parse.ts"]}], ["bash", {"command": "true"}, "ok"]],
  [["bash", {"command": "true"}, "ok"]]]');
select matches(kept(5), E'NEW parse.*> edit_file \\{"path": "src/parse.ts", "new_string": "b", "old_string": "a"\\} \\(block 1, iteration 3\\).*the lexer',
  'the newest content of what the step named, in its order: the last read, then the edits since, and from where');
select is((select count(*) from regexp_matches(kept(5), 'NEW parse', 'g')), 1::bigint, 'once');
select unalike(kept(5), '%OLD parse%', 'not what was read before');
select unalike(kept(5), '%"old_string": "c"%', 'nor an edit that failed');
select unalike(kept(5), '%the notes%', 'nor what it did not name');
select is((select string_agg(case when b -> 'cache_control' is not null then 'breakpoint' when b ->> 'text' like '%ept from closed%' then 'kept' else '-' end, ' ' order by i)
             from request, json_array_elements(body -> 'messages' -> 0 -> 'content') with ordinality as x(b, i) where n = 5), '- - breakpoint kept', 'behind the breakpoint of the stubs');

-- The next step names something else; what is too large is named with its handle.
select play(jsonb_build_array(
  jsonb_build_array(jsonb_build_array('read_file', '{"path": "big.txt"}'::jsonb, repeat('big ', 4000)), jsonb_build_array('web_fetch', '{"url": "https://example.org/api"}'::jsonb, 'the page')),
  jsonb_build_array(jsonb_build_array('ledger_append', '{"entry_type": "step", "content": "Read more", "keep": ["big.txt", "https://example.org/api", "notes.md"]}'::jsonb)),
  jsonb_build_array(jsonb_build_array('bash', '{"command": "true"}'::jsonb, 'ok'))));
select matches(kept(8), E'the page.*the notes', 'also from blocks that left before, and pages');
select unalike(kept(8), '%NEW parse%', 'each step''s list replaces the one before');
select is(artifact_read((regexp_match(kept(8), 'no room: big\.txt \(artifact_read\("([0-9a-f]{16})"\)\)'))[1]), repeat('big ', 4000), 'what has no room is named with a handle that brings it back');
select is((select count(*) from explain_turn((select turn_id from request where n = 8)) where shown = 'kept'), 2::bigint, 'explain_turn says so');

-- A handle can be named too.
select play(jsonb_build_array(
  jsonb_build_array(jsonb_build_array('ledger_append', jsonb_build_object('entry_type', 'step', 'content', 'Named a handle', 'keep',
    jsonb_build_array((select left(content_hash, 16) from artifacts where content like 'big %'), 'lex.ts')))),
  jsonb_build_array(jsonb_build_array('bash', '{"command": "true"}'::jsonb, 'ok'))));
select matches(kept(10), 'the lexer.*no room: [0-9a-f]{16} \(artifact_read', 'a handle as well');
select play('[
  [["ledger_append", {"entry_type": "step", "content": "Read it again", "keep": ["lex.ts"]}], ["read_file", {"path": "src/lex.ts"}, "the lexer"]],
  [["bash", {"command": "true"}, "ok"]]]');
select is(kept(12), null, 'what is still shown is not said twice');
select is(rebuilt(), 12::bigint, 'every request is rebuilt to the byte');
select throws_ok($$ select ledger_append((select id from work_submit('analyze', 'x')), 'step', 'Done', p_keep => array_fill('a'::text, array[21])) $$, 'WL002', null, 'at most twenty names');

select * from finish();
rollback;
