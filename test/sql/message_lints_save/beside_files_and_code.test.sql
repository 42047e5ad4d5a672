-- A message has the files that its calls touch and that were attached to it, the code blocks of its text, and the lints that a client saves of it.
begin;
select plan(12);

create temporary table turn as select bare_turn() as id;
create temporary table said as with made as (
  insert into messages (turn_id, sequence, role, content)
  select id, 1, 'assistant', json_build_array(json_build_object('type', 'text', 'text', E'Like this:\n\n```ts src/a.ts\nconst a = 1;\n\nconst b = `x`;\n```\n\nand\n```\nplain\n```\nInline ``` is none.\n\n   ```python title="run.py"\nprint("```")\n   ```')) from turn
  returning id) select id from made;
insert into tool_calls (turn_id, ordinal, message_id, provider_id, tool_name, input, effect)
select turn.id, n, said.id, 'x', name, input::json, 'pure' from turn, said, (values (0, 'read_file', '{"path": "./a.ts", "offset": 10, "limit": 5}'), (1, 'edit_file', '{"path": "b.ts"}'), (2, 'grep', '{"path": "src"}'), (3, 'bash', '{"command": "ls"}')) c(n, name, input);
select from tool_calls k, _touches_store(k);

select results_eq('select kind, file_path, line_start, line_end from message_files order by file_path', $$ values ('read', 'a.ts', 11, 15), ('written', 'b.ts', null, null), ('referenced', 'src', null, null) $$, 'message_files has what the calls read, wrote and referred to');
-- Another program may save a call of one turn with a message of another.
insert into tool_calls (turn_id, ordinal, message_id, provider_id, tool_name, input, effect, external_id)
select bare_turn(), 0, said.id, 'y', 'read_file', '{"path": "c.ts"}', 'pure', 'saved' from said;
select from tool_calls k, _touches_store(k) where k.external_id = 'saved';
select results_eq('select message_id from message_files where file_path = $$c.ts$$', 'select id from said', 'and what a call of another turn read, if it is of this message');
insert into messages (turn_id, sequence, role, content)
select id, 0, 'user', format('[{"type": "text", "text": "See"}, {"type": "image", "source": {"type": "artifact", "media_type": "image/png", "artifact": "%s"}}, {"type": "document", "title": "plan.pdf", "source": {"type": "base64", "media_type": "application/pdf", "data": "eA=="}}]', repeat('0123456789abcdef', 4))::json from turn;
select results_eq($$ select file_path, line_start, action from message_files where kind = 'attached' order by file_path $$, $$ values ('artifact:0123456789abcdef', null::integer, null), ('plan.pdf', null, null) $$, 'message_files has what was attached, by its name or its handle');

select is((select count(*) from message_codeblocks), 3::bigint, 'message_codeblocks has the fenced blocks of the text');
select results_eq('select idx, language, file_path from message_codeblocks order by idx', $$ values (0, 'ts', 'src/a.ts'), (1, null, null), (2, 'python', 'run.py') $$, 'a code block has its language and file');
select is((select content from message_codeblocks where idx = 0), E'const a = 1;\n\nconst b = `x`;', 'a code block has its content');
select is((select content from message_codeblocks where idx = 2), 'print("```")', 'a code block may have what looks like its end');
select is(message_lints_save((select id from said), '[{"message": "unused", "file_path": "a.ts", "start_line": 3, "severity": "error", "lint_source": "eslint"}, {"message": "long"}]'), 2, 'lints are saved');
select results_eq('select file_path, message, lint_source, start_line, severity from message_lints order by message desc', $$ values ('a.ts', 'unused', 'eslint', 3, 'error'), (null, 'long', null, null, 'warning') $$, 'lints are kept as they were said');
select throws_ok($$ select message_lints_save(gen_random_uuid(), '[{"message": "x"}]') $$, 'WL001', null, 'lints of a message that is not there are refused');
select throws_ok($$ select message_lints_save((select id from said), '{}') $$, 'WL002', null, 'lints that are no list are refused');
select throws_ok($$ select message_lints_save((select id from said), '[{"message": "x", "severity": "bad"}]') $$, 'WL002', null, 'an unknown severity is refused');

select * from finish();
rollback;
