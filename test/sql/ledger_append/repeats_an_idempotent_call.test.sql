begin;
select plan(4);

select submit();

select is((select seq from ledger_append(item(), 'note', 'x', p_idempotency_key => 'k')), 1, 'the first call appends');
select is((select seq from ledger_append(item(), 'note', 'x', p_idempotency_key => 'k')), 1, 'the second returns the same entry');
select throws_ok($$ select ledger_append(item(), 'note', 'y', p_idempotency_key => 'k') $$, 'WL006', null, 'the key does not stand for another entry');
select is((select ledger_count from work_items where id = item()), 1, 'no number is lost');

select * from finish();
rollback;
