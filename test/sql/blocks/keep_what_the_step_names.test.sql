-- Closed blocks leave, but for what the newest step names: it stays word for word, once, as it is now.
begin;
select plan(7);

select agent('{"tools": ["read_file", "edit_file", "write_file", "web_fetch", "bash"], "elide_budget": 0, "keep_budget": 2000, "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select submit('Fix it');

select play('[
  [["read_file", {"path": "src/parse.ts"}, "OLD parse"], ["read_file", {"path": "src/lex.ts"}, "the lexer"], ["read_file", {"path": "notes.md"}, "the notes"]],
  [["read_file", {"path": "src/parse.ts"}, "NEW parse"]],
  [["edit_file", {"path": "src/parse.ts", "old_string": "say \"a\"\nnow", "new_string": "b"}, "Edited."], ["edit_file", {"path": "src/parse.ts", "old_string": "c", "new_string": "d"}, "failed: not found"]],
  [["ledger_append", {"entry_type": "step", "content": "Read it", "keep": ["./src/parse.ts", "lex.ts", "never.ts", "src/parse.ts"]}], ["bash", {"command": "true"}, "ok"]],
  [["bash", {"command": "true"}, "ok"]]]');
select matches(kept(5), E'NEW parse.*> edit_file \\(block 1, iteration 3\\)\npath: src/parse.ts\nnew_string: b\nold_string:\nsay "a"\nnow\n.*the lexer',
  'the newest content of what the step named is kept, in its order: the last reading, then the edits since, and from where');
select is((select count(*) from regexp_matches(kept(5), 'NEW parse', 'g')), 1::bigint, 'what is kept is kept once');
select unalike(kept(5), '%OLD parse%', 'an older reading is not kept');
select unalike(kept(5), '%old_string: c%', 'an edit that failed is not kept');
select unalike(kept(5), '%the notes%', 'what the step did not name is not kept');
select is((select string_agg(case when b -> 'cache_control' is not null then 'breakpoint' when b ->> 'text' like '%ept from closed%' then 'kept' else '-' end, ' ' order by i)
             from request, json_array_elements(body -> 'messages' -> 0 -> 'content') with ordinality as x(b, i) where n = 5), '- - breakpoint - kept', 'what is kept stands behind the breakpoint of the stubs');

select is(rebuilt(), 5::bigint, 'every request is rebuilt to the byte');

select * from finish();
rollback;
