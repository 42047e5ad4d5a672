-- What others changed since a reader was shown a file is never written over, moved or deleted unseen; every version stays.
begin;
select plan(32);

create function pg_temp.as(p_reader text, p_input jsonb) returns text language plpgsql as $$
begin
  return memory_command(p_input::json, 'shop', p_reader => p_reader);
exception when others then
  return sqlstate || ' ' || sqlerrm;
end
$$;
create function pg_temp.insert(p_reader text, p_line integer, p_text text) returns text language sql as $$
  select pg_temp.as(p_reader, jsonb_build_object('command', 'insert', 'path', '/memories/a.md', 'insert_line', p_line, 'insert_text', p_text))
$$;
create function pg_temp.replace(p_reader text, p_old text, p_new text) returns text language sql as $$
  select pg_temp.as(p_reader, jsonb_build_object('command', 'str_replace', 'path', '/memories/a.md', 'old_str', p_old, 'new_str', p_new))
$$;
create function pg_temp.says() returns text language sql as $$ select content from v_memory_files where path = '/memories/a.md' $$;

select pg_temp.as('anna', '{"command": "create", "path": "/memories/a.md", "file_text": "one\ntwo\nthree"}');
select pg_temp.as('ben', '{"command": "view", "path": "/memories/a.md"}');
select is(pg_temp.insert('anna', 1, 'one and a half'), 'The file /memories/a.md has been edited.', 'who wrote a file knows it');
select is(pg_temp.insert('anna', 2, 'and more'), 'The file /memories/a.md has been edited.', 'also after an edit of their own');
select is(pg_temp.insert('ben', 2, 'two and a half'),
  E'WL008 File /memories/a.md was changed since you viewed it (version 1; it is version 3 now), by ' || session_user || E'. Nothing was done. What changed:\n+ one and a half\n+ and more\nView it again, then decide.',
  'a line number of an earlier version is refused, with what changed');
select is(pg_temp.as('ben', '{"command": "delete", "path": "/memories/a.md"}') like 'WL008 File /memories/a.md was changed%', true, 'so is a deletion');
select is(pg_temp.as('ben', '{"command": "delete", "path": "/memories"}'), 'WL002 Cannot delete the /memories directory itself', 'the folder stays');
select is(pg_temp.says(), E'one\none and a half\nand more\ntwo\nthree', 'nothing was lost');
select is(pg_temp.insert('ben', 0, 'zero'), 'The file /memories/a.md has been edited.', 'the beginning is where it was');
select is(pg_temp.insert('ben', 3, 'x') like 'WL008 %', true, 'that shows nobody the rest');
select is(pg_temp.replace('ben', 'three', '3'), E'The memory file has been edited. Here is the snippet showing the change (with line numbers):\n     4\tand more\n     5\ttwo\n     6\t3\n'
  'Others changed this file since you viewed it; your edit is in its newest version.', 'text that is there once is replaced in the newest version, and that is said');
select is(pg_temp.replace('ben', 'two', '2') like '%Others changed this file%', true, 'again');
select is(pg_temp.says(), E'zero\none\none and a half\nand more\n2\n3', 'all edits are in it');
select pg_temp.as('ben', '{"command": "view", "path": "/memories/a.md"}');
select is(pg_temp.insert('ben', 6, 'end'), 'The file /memories/a.md has been edited.', 'who viewed it may');
select unalike(pg_temp.replace('ben', 'end', 'END'), '%Others changed%', 'and knows it');
select is(pg_temp.replace('anna', 'one and a half', '1.5') like '%Others changed%', true, 'the other one does not');
select is(pg_temp.insert('clara', 1, 'blind'), 'The file /memories/a.md has been edited.', 'who was never shown it may insert, as models know it');
select is(memory_command('{"command": "insert", "path": "/memories/a.md", "insert_line": 1, "insert_text": "nameless"}', 'shop'), 'The file /memories/a.md has been edited.', 'and who has no name');

select pg_temp.as('anna', '{"command": "view", "path": "/memories/a.md"}'), pg_temp.as('ben', '{"command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/b.md"}');
select is(pg_temp.as('anna', '{"command": "insert", "path": "/memories/b.md", "insert_line": 1, "insert_text": "x"}'), 'The file /memories/b.md has been edited.', 'a file that was only renamed is the one that was viewed');
select is(pg_temp.as('ben', '{"command": "delete", "path": "/memories/b.md"}') like 'WL008 %', true, 'it has changed since');
select is(pg_temp.as('anna', '{"command": "delete", "path": "/memories/b.md"}'), 'Successfully deleted /memories/b.md', 'who knows it deletes it');
select is(pg_temp.as('clara', '{"command": "create", "path": "/memories/b.md", "file_text": "new"}'), 'File created successfully at: /memories/b.md', 'it is made anew');
select is(pg_temp.as('anna', '{"command": "insert", "path": "/memories/b.md", "insert_line": 1, "insert_text": "x"}') like E'WL008 %\n+ new\n%', true, 'which is another file to who knew it before');
select results_eq($$ select version, command, path, content is null from v_memory_versions where version > 11 order by version $$,
  $$ values (12, 'rename', '/memories/b.md', false), (13, 'insert', '/memories/b.md', false), (14, 'delete', '/memories/b.md', true), (15, 'create', '/memories/b.md', false) $$,
  'every version is there');
select is((select count(*) from v_memory_versions), 15::bigint, 'from the first');
select is(pg_temp.as('anna', '{"command": "str_replace", "path": "/memories/b.md", "old_str": "new", "new_str": "new"}') like 'The memory file%', true, 'an edit that changes nothing');
select is((select count(*) from v_memory_versions), 15::bigint, 'makes no version');
select throws_ok($$ update memory_versions set content = 'x' $$, 'WL007', null, 'no version is changed');
select throws_ok($$ delete from memory_files $$, 'WL007', null, 'no file goes');
select is_empty($$ select * from ledger_verify() $$, 'and the chain holds');

-- A caller whose answer was lost asks again.
select is((select array_agg(memory_command(c::json, 'again', p_reader => 'anna', p_idempotency_key => k)) from unnest(
    '{a,a,b,b,c,c}'::text[], array_cat(array_fill('{"command": "create", "path": "/memories/k.md", "file_text": "one\ntwo"}'::text, '{2}'), array_cat(
    array_fill('{"command": "insert", "path": "/memories/k.md", "insert_line": 1, "insert_text": "and"}'::text, '{2}'),
    array_fill('{"command": "str_replace", "path": "/memories/k.md", "old_str": "two", "new_str": "two two"}'::text, '{2}')))) as u(k, c)),
  array['File created successfully at: /memories/k.md', 'File created successfully at: /memories/k.md', 'The file /memories/k.md has been edited.', 'The file /memories/k.md has been edited.',
    E'The memory file has been edited. Here is the snippet showing the change (with line numbers):\n     1\tone\n     2\tand\n     3\ttwo two',
    E'The memory file has been edited. Here is the snippet showing the change (with line numbers):\n     1\tone\n     2\tand\n     3\ttwo two'], 'is answered the same');
select is((select row(version, content)::text from v_memory_files where project = 'again'), E'(3,"one\nand\ntwo two")', 'and nothing is done twice');
select throws_ok($$ select memory_command('{"command": "delete", "path": "/memories/k.md"}', 'again', p_idempotency_key => 'a') $$, 'WL006', null, 'a key is for one command');
select throws_ok($$ select memory_command('{"command": "delete", "path": "/memories/k.md"}', 'again', p_idempotency_key => '') $$, 'WL002', null, 'an empty string is none');

select * from finish();
rollback;
