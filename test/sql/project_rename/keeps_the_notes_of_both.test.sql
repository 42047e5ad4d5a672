-- Where two projects become one, all their notes are there; of two with one path that of the name that stays is where it was.
begin;
select plan(9);

select memory_write('/memories/style.md', 'Tabs', 'github.com/acme/shop'), memory_write('/memories/a', 'A file', 'github.com/acme/shop'), memory_write('/memories/only.md', 'Here', '/home/me/shop'),
       memory_write('/memories/style.md', 'Blanks', '/home/me/shop'), memory_write('/memories/a/b.md', 'In a folder', '/home/me/shop'), memory_write('/memories/gone.md', 'Gone', '/home/me/shop');
select memory_command('{"command": "view", "path": "/memories/style.md"}', '/home/me/shop', p_reader => 'anna');
select memory_command('{"command": "delete", "path": "/memories/gone.md"}', '/home/me/shop');
select lives_ok($$ select project_rename('/home/me/shop', 'me/shop') $$, 'a project that only has notes is renamed');
select is((select count(*) from v_memory_files where project = 'me/shop'), 3::bigint, 'and they with it');
select from project_rename('me/shop', 'github.com/acme/shop');
select results_eq($$ select path, content from v_memory_files where project = 'github.com/acme/shop' order by path collate "C" $$,
  $$ values ('/memories/a', 'A file'), ('/memories/only.md', 'Here'), ('/memories/shop/a/b.md', 'In a folder'), ('/memories/shop/style.md', 'Blanks'), ('/memories/style.md', 'Tabs') $$, 'nothing is lost');
select is((select count(*) from v_memory_files where project is distinct from 'github.com/acme/shop'), 0::bigint, 'nothing is left behind');
select is((select array_agg(command || coalesce(': ' || why, '') order by version) from v_memory_versions where path_now = '/memories/shop/style.md'),
  '{write,"merge: project me/shop was renamed to github.com/acme/shop"}', 'the history says what was moved');
select is(memory_command('{"command": "insert", "path": "/memories/shop/style.md", "insert_line": 1, "insert_text": "x"}', '/home/me/shop', p_reader => 'anna'), 'The file /memories/shop/style.md has been edited.', 'who knew it still does, by any name of the project');
select memory_write('/memories/style.md', 'Third', 'third/shop'), memory_write('/memories/shop/style.md', 'Fourth', 'third/shop');
select from project_rename('third/shop', 'github.com/acme/shop');
select is((select content from v_memory_files where path = '/memories/shop-2/style.md'), 'Third', 'a folder that is taken gets a number');
select is((select count(*) from v_memory_files), 7::bigint, 'of all');
select is_empty($$ select * from ledger_verify() $$, 'the chain holds');

select * from finish();
rollback;
