begin;
select plan(8);

select submit();

select throws_ok($$ select ledger_append(item(), 'thought', 'x') $$, 'WL002', null, 'an unknown type');
select throws_ok($$ select ledger_append(item(), 'Finding', 'x') $$, 'WL002', null, 'a type in the wrong case');
select throws_ok($$ select ledger_append(item(), null, 'x') $$, 'WL002', null, 'no type');
select throws_ok($$ select ledger_append(item(), 'note', E' \n\t ') $$, 'WL002', null, 'blank content');
select throws_ok($$ select ledger_append(item(), 'note', repeat('x', 2000000)) $$, 'WL002', null, 'content of 2 MB');
select throws_ok($$ select ledger_append('00000000-0000-7000-8000-000000000000', 'note', 'x') $$, 'WL001', null, 'an item that is not there');
select lives_ok($$ select ledger_append(item(), 'note', repeat('x', 16384)) $$, '16 KiB is the most');
select is((select ledger_count from work_items where id = item()), 1, 'what was refused took no number');

select * from finish();
rollback;
