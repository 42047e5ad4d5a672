-- A person writes a note whole, over the version that was read and no other.
begin;
select plan(14);

select is(memory_write('/memories/a.md', 'one', 'shop', p_why => 'first'), 1, 'a new note');
select throws_ok($$ select memory_write('/memories/a.md', 'x', 'shop') $$, 'WL006', 'File /memories/a.md already exists', 'without a version nothing is replaced');
select is(memory_write('/memories/a.md', E'one\ntwo', 'shop', 1), 2, 'the version that was read is');
select throws_ok($$ select memory_write('/memories/a.md', 'x', 'shop', 1) $$, 'WL008',
  format(E'File /memories/a.md was changed since you viewed it (version 1; it is version 2 now), by %s. Nothing was done. What changed:\n+ two\nView it again, then decide.', session_user), 'another one is not');
select throws_ok($$ select memory_write('/memories/a.md', 'x', 'shop', 3) $$, 'WL002', 'File /memories/a.md has no version 3: it is version 2', 'nor one that is not there');
select throws_ok($$ select memory_write('/memories/b.md', 'x', 'shop', 1) $$, 'WL001', 'The path /memories/b.md does not exist', 'of no file');
select throws_ok($$ select memory_write('/memories/b.md', null, 'shop') $$, 'WL002', null, 'a note has words');
select throws_ok($$ select memory_write('/memories', 'x', 'shop') $$, 'WL002', 'The path /memories is a directory', 'a folder has none');
select throws_ok($$ select memory_write('/memories/b.md', 'x', 'shop', p_why => repeat('x', 1001)) $$, 'WL002', null, 'a reason is short');
select throws_ok($$ select memory_write('/memories/b.md', 'x', ' ') $$, 'WL002', null, 'a project has a name');
select results_eq($$ select version, command, why, written_by = session_user from v_memory_versions order by version $$, $$ values (1, 'write', 'first', true), (2, 'write', null, true) $$, 'its history');
select memory_command('{"command": "delete", "path": "/memories/a.md"}', 'shop');
select is(memory_write('/memories/a.md', 'again', 'shop'), 4, 'a note that was deleted goes on');
select is((select content from v_memory_files), 'again', 'with what it says now');
select memory_write('/memories/key.md', 'sk-ant-api03-' || repeat('aB3_', 8), 'shop');
select is(memory_write('/memories/key.md', 'sk-ant-api03-' || repeat('aB3_', 8), 'shop'), 1, 'also where a secret was taken out, the same again is the version that is there');

select * from finish();
rollback;
