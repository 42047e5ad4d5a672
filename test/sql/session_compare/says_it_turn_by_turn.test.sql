-- session_compare_turns() puts the turns of two branches next to each other, and tells those that are the same from those that are not.
begin;
select plan(13);

select agent('{"tools": ["look"], "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select submit('Fix it');
create temporary table original as select item();
select play('[[["look"]], [["look", {"path": "a.ts"}, "Empty."]], [["look", {"path": "b.ts"}, "One line."]], [["look", {"path": "c.ts"}, "Three lines."]]]');
select take(work_fork((select id from turns where work_item_id = item() and iteration = 1), 'Try again'));
create temporary table fork as select item();
select play('[[["look", {"path": "a.ts"}, "Empty."]], [["look", {"path": "b.ts"}, "Two lines."]]]');
create temporary table row as select * from session_compare_turns((select item::text from original), (select item::text from fork));

select is((select array_agg(n order by n) from row), array[1, 2, 3], 'as many rows as the longer has turns since they parted');
select ok((select is_same from row where n = 1), 'the same call with the same result is the same');
select ok((select not is_same from row where n = 2), 'the same call with another result is not');
select ok((select not is_same from row where n = 3), 'nor is a turn that the other has not');
select is((select (b_turn_id, b_says, b_calls)::text from row where n = 3), '(,,)', 'of which nothing is shown');
select is((select a_calls from row where n = 2), '[{"tool": "look", "input": "{\"path\": \"b.ts\"}", "is_error": false}]'::jsonb, 'a call with its input');
select is((select a_turn_id from row where n = 2), (select id from turns where work_item_id = (select item from original) and iteration = 3), 'and its turn');
select is((select count(*) from session_compare_turns((select item::text from original), (select item::text from fork), 1, 1)), 1::bigint, 'a page of them');
select is((select n from session_compare_turns((select item::text from original), (select item::text from fork), 1, 1)), 2, 'is after the last of the one before');
select is_empty($$ select from session_compare_turns((select item::text from original), (select item::text from original)) $$, 'a session beside itself has parted nowhere');
select throws_ok($$ select * from session_compare_turns('nobody', 'nothing') $$, 'WL001', null, 'no such session');
select throws_ok($$ select * from session_compare_turns((select item::text from original), (select item::text from fork), -1) $$, 'WL002', null, 'turns are counted from 0');
select throws_ok($$ select * from session_compare_turns((select item::text from original), (select item::text from fork), 0, 501) $$, 'WL002', null, 'a page has an end');

select * from finish();
rollback;
