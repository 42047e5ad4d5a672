-- A note gets the words of an earlier version again; what it said until then is a version, too.
begin;
select plan(14);

select memory_write('/memories/a.md', 'one'), memory_write('/memories/a.md', 'two', p_version => 1), memory_write('/memories/a.md', 'three', p_version => 2);
select is(memory_rollback('/memories/a.md', 1), 4, 'a new version');
select is((select content from v_memory_files), 'one', 'with the old words');
select is((select why from v_memory_versions where version = 4), 'back to version 1', 'and its history says so');
select throws_ok($$ select memory_rollback('/memories/a.md', 2, p_replaces => 3) $$, 'WL008', null, 'not over what somebody wrote meanwhile');
select is(memory_rollback('/memories/a.md', 3, p_replaces => 4, p_why => 'better'), 5, 'over what was read');
select throws_ok($$ select memory_rollback('/memories/a.md', 9) $$, 'WL002', 'File /memories/a.md has no version 9: it has 5', 'to a version that is there');
select throws_ok($$ select memory_rollback('/memories/a.md', null) $$, 'WL002', null, 'to one');
select throws_ok($$ select memory_rollback('/memories/b.md', 1) $$, 'WL001', null, 'of a note that is there');
select memory_command('{"command": "delete", "path": "/memories/a.md"}');
select throws_ok($$ select memory_rollback('/memories/a.md', 6) $$, 'WL002', 'Version 6 of /memories/a.md has no text: it was deleted, and memory_command() deletes notes', 'to one with words');
select is(memory_rollback('/memories/a.md', 5), 7, 'or was');
select is((select content from v_memory_files), 'three', 'it is there again');
select memory_command('{"command": "delete", "path": "/memories/a.md"}'), memory_command('{"command": "create", "path": "/memories/a.md/x", "file_text": "x"}');
select throws_ok($$ select memory_rollback('/memories/a.md', 5) $$, 'WL002', 'The path /memories/a.md is a directory by now', 'if there is room for it');
select memory_command(json_build_object('command', 'create', 'path', '/memories/n/' || n, 'file_text', 'x')) from generate_series(1, 199) n;
select memory_command('{"command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/b"}');
select throws_ok($$ select memory_rollback('/memories/a.md', 5) $$, 'WL009', null, 'among 200');
select is_empty($$ select * from ledger_verify() $$, 'the chain holds');

select * from finish();
rollback;
