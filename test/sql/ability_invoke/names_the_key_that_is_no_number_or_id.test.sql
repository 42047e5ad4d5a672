-- Input that nobody held against a schema is answered with the key that is wrong, in a code of ours.
begin;
select plan(9);

select set_config('work_ledger.work_item_id', id::text, true) from work_submit('work', 'Do it');

select throws_ok($$ select _ability_recall_block('{"n": 99999999999}') $$, 'WL002', 'n must be a whole number from 0 to 100,000,000, not 99999999999', 'a block beyond all integers');
select throws_ok($$ select _ability_ledger_read('{"last_n": -1e12}') $$, 'WL002', 'last_n must be a whole number from 0 to 100,000,000, not -1000000000000', 'fewer entries than none');
select throws_ok($$ select _code_ledger_read('{"last_n": "x"}') $$, 'WL002', null, 'a number of entries that is a word');
select throws_ok($$ select _ability_resumption_context('{"target_tokens": 1e12}') $$, 'WL002', null, 'more tokens than there are');
select throws_ok($$ select _ability_spawn_child_work('{"work_type": "work", "description": "x", "priority": -2147483649}') $$, 'WL002',
  'priority must be a whole number from -2,147,483,648 to 2,147,483,647, not -2147483649', 'a priority that no column holds');
select throws_ok($$ select _ability_check_child_work('{"work_item_ids": ["x"]}') $$, 'WL002', 'work_item_ids must be a list of ids: "x" is not an id', 'a word is no id');
select throws_ok($$ select _ability_check_child_work('{"work_item_ids": [1]}') $$, 'WL002', 'work_item_ids must be a list of ids: 1 is not an id', 'a number is no id');
select throws_ok($$ select _ability_await_child_work('{"work_item_ids": "x"}') $$, 'WL002', 'work_item_ids must be a list of ids', 'a word is no list');
select throws_ok($$ select _ldg_task_query('{"limit": "x"}') $$, 'WL002', '"limit" must be a number from 0 to 1,000,000,000', 'a page is as long as a number says');

select * from finish();
rollback;
