-- A step may keep a part of a file, by its lines or by what it defines: the part stays with 5 lines around it, as it stands now.
begin;
select plan(24);

select agent('{"tools": ["read_file", "edit_file", "write_file", "bash"], "elide_budget": 0, "keep_budget": 2000, "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
create function pg_temp.file(p_n integer) returns text language sql as $$ select string_agg('line ' || n || ' of it', E'\n' order by n) from generate_series(1, p_n) n $$;
create function pg_temp.answer() returns text language sql as $$
  select _result_text(result) from tool_calls where tool_name = 'ledger_append' and work_item_id = item() order by created_at desc, ordinal desc limit 1
$$;
create function pg_temp.step(p_keep jsonb) returns jsonb language sql as $$
  select jsonb_build_array(jsonb_build_array('ledger_append', jsonb_build_object('entry_type', 'step', 'content', 'Read it', 'keep', p_keep)),
                           jsonb_build_array('bash', '{"command": "true"}'::jsonb, 'ok'))
$$;
create function pg_temp.now() returns text language sql as $$ select kept((select max(n)::integer from request)) $$;
create function pg_temp.edit(p_old text, p_new text, p_all boolean default false) returns jsonb language sql as $$
  select jsonb_build_array(jsonb_build_array('edit_file', jsonb_build_object('path', 'src/a.ts', 'old_string', p_old, 'new_string', p_new, 'replace_all', p_all), 'Edited.'))
$$;

select submit('Fix it');
select play(jsonb_build_array(jsonb_build_array(jsonb_build_array('read_file', '{"path": "src/a.ts"}'::jsonb, pg_temp.file(60))), pg_temp.step('["src/a.ts:20-22"]'), '[["bash", {"command": "true"}, "ok"]]'::jsonb));
select is(pg_temp.answer(), 'Recorded as [1].', 'a part that is there needs no word');
select matches(pg_temp.now(), E'# src/a.ts:20-22, lines 15 to 27 as they are now\n15\tline 15 of it\n16\t.*\n27\tline 27 of it\n</data-', 'the lines named stay, with five around them');
select unalike(pg_temp.now(), '%line 14 of it%', 'and no others');
-- The next step names nothing: the list holds, and lines move with edits.
select play(jsonb_build_array(pg_temp.edit(E'line 3 of it\n', E'line 3\nand a half\nof it\n'), pg_temp.edit('line 21 of it', E'line 21\nof it, changed'), pg_temp.edit('line 50 of it', E'a\nb\nc'),
  '[["ledger_append", {"entry_type": "step", "content": "Edited"}], ["bash", {"command": "true"}, "ok"]]'::jsonb, '[["bash", {"command": "true"}, "ok"]]'::jsonb));
select matches(pg_temp.now(), E'# src/a.ts:20-22, lines 17 to 30 as they are now\n17\tline 15 of it\n.*\n23\tline 21\n24\tof it, changed\n.*\n30\tline 27 of it\n</data-', 'after edits before, in and behind it, it is where it is now');
select is((select count(*) from request, json_array_elements(body -> 'messages' -> 0 -> 'content') b where n = (select max(n) from request) and b ->> 'text' like '%line 55 of it%'), 0::bigint, 'what was not named has left');
-- Named now, the numbers are those of now.
select play(jsonb_build_array(jsonb_build_array(jsonb_build_array('read_file', '{"path": "long.txt"}'::jsonb, pg_temp.file(2000))), pg_temp.step('["a.ts:23-24", "src/a.ts:900-950", "src/a.ts#nothing"]'), '[["bash", {"command": "true"}, "ok"]]'::jsonb));
select is(pg_temp.answer(), 'Recorded as [3]. keep: src/a.ts:900-950, src/a.ts#nothing were not found in what you have seen; the whole file stays if it fits.', 'a part that is not there is said');
select matches(pg_temp.now(), E'# a.ts:23-24, lines 18 to 29 as they are now\n.*\n23\tline 21\n24\tof it, changed\n', 'a part is named by the end of its path, too');
select matches(pg_temp.now(), E'# src/a.ts:900-950 was not found: the whole file\n> read_file', 'the whole file stays in its share of the room');
select is(rebuilt(), (select count(*) from request), 'every request is rebuilt to the byte');

-- What a range means in a name: backwards, one line, in a file that was only read in parts.
create temporary table f as select array['# Guide', '', '## How it *works*', 'It works.', '### Deeper', 'Deep.', '## After', 'end'] as guide,
  array['import x', '', 'export class Parser {', '  #at = 0;', '  parse(text: string): Tree {', '    if (text) {', '      return 1;', '    }', '  }', '', '  static of(): Parser {', '    return new Parser();', '  }', '}', '',
        'export const parse = (text: string) =>', '  new Parser().parse(text);', '', 'function rest() {}'] as code,
  array['def a(x):', '    if x:', '        return 1', '', '    return 2', '', 'class B:', '    def a(self):', '        pass'] as python,
  array['create or replace function f(a int)', '  returns int', '  language sql', 'as $$', 'select 1', 'from x', '$$;', '', 'comment on function f(int) is ''x'';'] as query;
select results_eq($$ select (_symbol_lines(code, s)).* from f, unnest(array['Parser', 'Parser.parse', 'parse', 'of()', 'rest', 'Parser.rest', 'pars', '', '.*']) with ordinality as u(s, n) order by n $$,
  $$ values (3, 14), (5, 9), (16, 17), (11, 13), (19, 19), (null, null), (null, null), (null, null), (null, null) $$, 'classes, methods and functions are found by name');
select results_eq($$ select (_symbol_lines(guide, s)).* from f, unnest(array['How it works', 'how-it-works', 'Deeper', 'Guide']) with ordinality as u(s, n) order by n $$, $$ values (3, 6), (3, 6), (5, 6), (1, 8) $$, 'so are headings');
select results_eq($$ select (_symbol_lines(python, s)).* from f, unnest(array['a', 'B.a', 'B']) with ordinality as u(s, n) order by n $$, $$ values (1, 5), (8, 9), (7, 9) $$, 'and what is told by its indentation');
select results_eq($$ select (_symbol_lines(query, 'f')).* from f $$, $$ values (1, 7) $$, 'a function in SQL ends with its body');

select submit('Another');
select play('[
  [["read_file", {"path": "b.ts", "offset": 10, "limit": 3}, "eleven\ntwelve\nthirteen\n[lines 11 to 13 of 90; go on with offset 13]"]],
  [["read_file", {"path": "b.ts", "offset": 40, "limit": 2}, "forty-one\nforty-two\n[lines 41 to 42 of 90; go on with offset 42]"]],
  [["edit_file", {"path": "b.ts", "old_string": "twelve", "new_string": "twelve and\na half"}, "Edited."]]]');
select play(jsonb_build_array(pg_temp.step('["b.ts:42-12", "b.ts:43"]'), '[["bash", {"command": "true"}, "ok"]]'::jsonb));
select matches(pg_temp.now(), E'# b.ts:42-12, lines 7 to 43 as they are now\n…\n11\televen\n12\ttwelve and\n13\ta half\n14\tthirteen\n…\n42\tforty-one\n43\tforty-two\n\n# b.ts:43, lines 38 to 43', 'what nobody has seen of a file is left out; backwards is the same');
select play(jsonb_build_array('[["write_file", {"path": "c.md", "content": "# One\ntext\n# Two\nmore"}, "ok"], ["edit_file", {"path": "c.md", "old_string": "more", "new_string": "much more"}, "ok"]]'::jsonb,
  '[["bash", {"command": "cat d.ts"}, "one\ntwo"]]'::jsonb, pg_temp.step('["c.md#two", "d.ts:1"]'), '[["bash", {"command": "true"}, "ok"]]'::jsonb));
select matches(pg_temp.now(), E'# c.md#two, lines 1 to 4 as they are now\n.*\n4\tmuch more', 'a file that was written whole has parts, too');
select matches(pg_temp.now(), E'# d.ts:1 was not found: the whole file\n> bash', 'of what a shell printed nobody can say which lines it is');

select play(jsonb_build_array('[["edit_file", {"path": "b.ts", "line": 3, "text": "three"}, "ok"]]'::jsonb, jsonb_build_array(jsonb_build_array('read_file', '{"path": "mid.txt"}'::jsonb, pg_temp.file(160))),
  pg_temp.step('["b.ts:12", "mid.txt:900", "c.md#two"]'), '[["bash", {"command": "true"}, "ok"]]'::jsonb));
select matches(pg_temp.now(), E'# b.ts:12 was not found: the whole file', 'nor what an edit changed that does not say what it replaced');
select matches(pg_temp.now(), E'no room for them: mid\\.txt:900 \\(artifact_read', 'a file without the part named takes no more than its share');

select play(jsonb_build_array(jsonb_build_array(jsonb_build_array('read_file', '{"path": "long.txt"}'::jsonb, pg_temp.file(6000))), pg_temp.step('["long.txt:3000"]'), '[["bash", {"command": "true"}, "ok"]]'::jsonb));
select matches(pg_temp.now(), E'# long.txt:3000, lines 2995 to 3005 as they are now\n2995\tline 2995 of it\n', 'of a result that was shown as head and tail, what stands between them');

-- The edits that well-known agents make.
select results_eq($$ select old, new, is_all from _edits_of('{"file_path": "a", "edits": [{"old_string": "1", "new_string": "2", "replace_all": true}, {"oldText": "3", "newText": "4"}]}', 'a') order by n $$, $$ values ('1', '2', true), ('3', '4', false) $$, 'several in one call');
select results_eq($$ select old, new, is_all from _edits_of('{"input": "*** Begin Patch\n*** Update File: x/a\n@@ f\n one\n-two\n+2\n three\n@@\n-four\n*** Update File: b\n-q\n+r\n*** End Patch"}', 'x/a') order by n $$,
  $$ values (E'one\ntwo\nthree', E'one\n2\nthree', false), ('four', '', false) $$, 'the hunks of a patch, of this file alone');
select is(_file_written('{"input": "*** Begin Patch\n*** Add File: n\n+one\n+two\n*** End Patch"}', 'n'), E'one\ntwo', 'a file that a patch adds');
select is(_text_edited(E'a x a\n\x01\nx', 'x', E'y\nz', true, '{3, 1}', '{3, 1}')::text, E'("{4,1}","{5,2}","a y\nz a\n\x01\ny\nz")', 'wherever a passage stands; lines that nobody has seen stay so');
select is((_text_edited('a', 'b', 'c', false, '{1}', '{1}')).text, null, 'an edit of what is not there leaves nothing to be said');

select * from finish();
rollback;
