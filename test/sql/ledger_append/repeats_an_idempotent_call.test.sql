begin;
select plan(4);

create temporary table item as select * from work_submit('analyze', 'Find why the nightly import is slow');

select is((select seq from ledger_append((select id from item), 'note', 'x', p_idempotency_key => 'k')), 1, 'the first call appends');
select is((select seq from ledger_append((select id from item), 'note', 'x', p_idempotency_key => 'k')), 1, 'the second returns the same entry');
select throws_ok($$ select ledger_append((select id from item), 'note', 'y', p_idempotency_key => 'k') $$, 'WL006', null, 'the key does not stand for another entry');
select is((select ledger_count from work_items where id = (select id from item)), 1, 'no number is lost');

select * from finish();
rollback;
