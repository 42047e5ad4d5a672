begin;
select plan(8);

create temporary table item as select * from work_submit('analyze', 'Find why the nightly import is slow');

select throws_ok($$ select ledger_append((select id from item), 'thought', 'x') $$, 'WL002', null, 'an unknown type');
select throws_ok($$ select ledger_append((select id from item), 'Finding', 'x') $$, 'WL002', null, 'a type in the wrong case');
select throws_ok($$ select ledger_append((select id from item), null, 'x') $$, 'WL002', null, 'no type');
select throws_ok($$ select ledger_append((select id from item), 'note', E' \n\t ') $$, 'WL002', null, 'blank content');
select throws_ok($$ select ledger_append((select id from item), 'note', repeat('x', 2000000)) $$, 'WL002', null, 'content of 2 MB');
select throws_ok($$ select ledger_append('00000000-0000-7000-8000-000000000000', 'note', 'x') $$, 'WL001', null, 'an item that is not there');
select lives_ok($$ select ledger_append((select id from item), 'note', repeat('x', 16384)) $$, '16 KiB is the most');
select is((select ledger_count from work_items where id = (select id from item)), 1, 'what was refused took no number');

select * from finish();
rollback;
