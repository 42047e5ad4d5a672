-- Words of notes go with the work that wrote them, but what a note says today stays until it is erased itself; the chain holds.
begin;
select plan(28);

select agent('{"tools": ["look"]}', '{"memory": true}');
select take((work_submit('analyze', 'Note', p_project => 'shop')).id), drive();
select answer('[["memory", {"command": "create", "path": "/memories/a.md", "file_text": "first words"}], ["memory", {"command": "create", "path": "/memories/gone.md", "file_text": "gone words"}],
  ["memory", {"command": "str_replace", "path": "/memories/a.md", "old_str": "first", "new_str": "second"}], ["memory", {"command": "delete", "path": "/memories/gone.md"}]]'), run();
select work_complete(item(), 'Done', p_lease => lease());
select results_eq($$ select name, bytes from work_erase(item(), p_is_dry_run => true) where kind = 'note' $$, $$ values ('shop /memories/a.md', 12::bigint) $$, 'what will stay is said before');
select is((select row_count from work_erase(item(), p_is_dry_run => true) where kind = 'table' and name = 'memory_versions'), 3::bigint, 'and what will go');
select from work_erase(item());
select results_eq($$ select path, version, content, is_erased from v_memory_versions order by path, version $$,
  $$ values ('/memories/a.md', 1, '[erased]', true), ('/memories/a.md', 2, 'second words', false), ('/memories/gone.md', 1, '[erased]', true), ('/memories/gone.md', 2, null, true) $$,
  'earlier versions go with the work, what a note says stays');
select is((select count(*) from memory_versions where erased_hash is not null and salt is not null), 0::bigint, 'with the salts, so that nobody guesses them');
select is((select count(*) from memory_versions where salt is not null), 1::bigint, 'but for what stays');
select is((select count(*) from memory_views), 0::bigint, 'what it was shown goes, too');
select is_empty($$ select * from ledger_verify() $$, 'the chain holds without them');
select throws_ok($$ select memory_rollback('/memories/a.md', 1, 'shop') $$, 'WL002', 'Version 1 of /memories/a.md has no text: it was erased', 'nothing brings them back');
select memory_write('/memories/a.md', 'third words', 'shop', 2);
select is((work_retention_run() ->> 'rows')::integer, 1, 'when another version follows');
select is((select content from v_memory_versions where path = '/memories/a.md' and version = 2), '[erased]', 'what it wrote goes, too');
select is((select count(*) from memory_versions where salt is not null), 1::bigint, 'with its salt');
select is_empty($$ select * from ledger_verify() $$, 'and the chain holds');
select is(work_retention_run() ->> 'is_done', 'true', 'that is all');

select memory_write('/memories/a.md', 'fourth words', 'shop', 3, 'a secret reason');
select throws_ok($$ select memory_erase('/memories/a.md', ' ', 'shop') $$, 'WL002', null, 'erasing has a reason');
select throws_ok($$ select memory_erase('/memories/none.md', 'because', 'shop') $$, 'WL001', null, 'of a note that is there');
select is(memory_erase('/memories/a.md', 'because', 'shop', true), 1::bigint, 'all but the newest');
select is((select content from v_memory_files), 'fourth words', 'which stays');
select is(memory_erase('/memories/a.md', 'because', 'shop'), 1::bigint, 'or all');
select is((select count(*) from v_memory_files), 0::bigint, 'and the note is gone');
select is((select array_agg(distinct content) from memory_versions where content is not null), '{[erased]}', 'no words are left');
select is((select count(*) from memory_versions where content = '[erased]' and salt is not null), 0::bigint, 'and no salts of theirs');
select is((select why from memory_versions order by created_at desc, version desc limit 1), 'because', 'but why');
select is((select count(*) from memory_versions where why like '%secret%'), 0::bigint, 'and no other reason');
select is_empty($$ select * from ledger_verify() $$, 'the chain holds');
select is((select count(*) from erasing), 0::bigint, 'nothing else can be erased with it');
select memory_write('/memories/b.md', 'moved words', 'shop'), memory_command('{"command": "rename", "old_path": "/memories/b.md", "new_path": "/memories/c.md"}', 'shop');
select throws_ok($$ select memory_erase('/memories/b.md', 'because', 'shop') $$, 'WL008', '/memories/b.md is now /memories/c.md', 'where it went is said');
select is((select content from v_memory_files), 'moved words', 'and nothing goes');
select is(memory_erase('/memories/c.md', 'because', 'shop'), 2::bigint, 'there it is erased, with what it said earlier');

select * from finish();
rollback;
