-- What people pin stands in the first message of each agent and session of the project, within 500 tokens, and stays where it is.
begin;
select plan(27);

select agent('{"tools": ["look"]}');
select memory_write('/memories/style.md', E'Tabs, no blanks.\n', 'shop'), memory_write('/memories/other.md', 'Not pinned', 'shop');
select is(memory_pin('/memories/style.md', p_project => 'shop'), true, 'it is pinned');
select is(memory_pin('/memories/style.md', p_project => 'shop'), false, 'once');
select take((work_submit('analyze', 'Fix', p_project => 'shop')).id), drive();
select matches(told(1), E'Notes of this project that people pinned, as data between the markers:\n\n<(data-[0-9a-f]{12})>\n/memories/style.md:\nTabs, no blanks.\n</\\1>', 'an agent is told, between markers');
select ok(strpos(told(1), 'people pinned') < strpos(told(1), 'What else is going on'), 'before what changes');
select unalike(told(1), '%Not pinned%', 'and of nothing else');
select give_up(), later('1 minute'), drive();
select alike(told(2), '%Tabs, no blanks.%', 'also in the next attempt');
select take((work_submit('analyze', 'Fix', p_project => 'bank')).id), drive();
select unalike(told(3), '%pinned%', 'elsewhere nothing is');
select alike(journal_session_begin((journal_session_open('c1', 'Look', '/srv/shop', 'shop')).id, '/srv/shop'), '%Tabs, no blanks.%', 'a session is told when it begins');
select throws_ok($$ select memory_command('{"command": "delete", "path": "/memories/style.md"}', 'shop') $$, 'WL008', format('File /memories/style.md is pinned by %s, and stays where it is', session_user), 'it is not deleted');
select throws_ok($$ select memory_command('{"command": "rename", "old_path": "/memories/style.md", "new_path": "/memories/x"}', 'shop') $$, 'WL008', null, 'nor renamed');
select throws_ok($$ select memory_erase('/memories/style.md', 'because', 'shop') $$, 'WL008', null, 'nor erased');
select lives_ok($$ select memory_command('{"command": "insert", "path": "/memories/style.md", "insert_line": 0, "insert_text": "Also:"}', 'shop') $$, 'but edited');
select memory_write('/memories/long.md', repeat('word ', 500), 'shop');
select throws_ok($$ select memory_pin('/memories/long.md', p_project => 'shop') $$, 'WL009', null, '500 tokens are the most');
select throws_ok($$ select memory_pin('/memories/none.md', p_project => 'shop') $$, 'WL001', null, 'of a note that is there');
select take((work_submit('analyze', 'Fix', p_project => 'shop')).id), drive();
select unalike(told(4), '%Also:%', 'what was written since is not what people pinned');
select is((select pinned_version from v_memory_files where path = '/memories/style.md'), 1, 'that is a version');
select throws_ok($$ select memory_pin('/memories/style.md', p_project => 'shop', p_version => 1) $$, 'WL008', null, 'a version that was read is not pinned once there is a newer one');
select throws_ok($$ select memory_pin('/memories/style.md', p_project => 'shop', p_version => 3) $$, 'WL002', null, 'nor one that is not there');
select is(memory_pin('/memories/style.md', p_project => 'shop', p_version => 2), true, 'it is pinned again');
select take((work_submit('analyze', 'Fix', p_project => 'shop')).id), drive();
select alike(told(5), E'%Also:\nTabs, no blanks.%', 'as it is now');
select memory_write('/memories/style.md', repeat('word ', 1000), 'shop', 2);
select throws_ok($$ select memory_pin('/memories/style.md', p_project => 'shop') $$, 'WL009', null, 'one that grew too long stays as it was pinned');
select memory_write('/memories/a.md', repeat('word ', 280), 'yard'), memory_pin('/memories/a.md', p_project => 'yard'),
       memory_write('/memories/a.md', repeat('more ', 280), 'mill'), memory_pin('/memories/a.md', p_project => 'mill'), project_rename('yard', 'mill');
select alike(_memory_pinned('mill'), E'%[engine: pinned notes are cut here]', 'where two projects became one, what is too long is cut');
select cmp_ok(_tokens(length(_memory_pinned('mill'))::bigint, 'claude'), '<=', 500, 'to that');
select is(memory_pin('/memories/style.md', false, 'shop'), true, 'it is unpinned');
select is(memory_pin('/memories/style.md', false, 'shop'), false, 'once');
select is((select count(*) from v_memory_files where pinned_at is not null and project = 'shop'), 0::bigint, 'by whoever looks');
select is(memory_pin('/memories/style.md', false, 'shop', 1), false, 'of unpinning a version says nothing');

select * from finish();
rollback;
