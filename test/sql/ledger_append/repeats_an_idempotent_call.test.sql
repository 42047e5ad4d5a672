-- With an idempotency key an entry is appended once, however often it is asked for.
begin;
select plan(4);

select submit();

select is((select seq from ledger_append(item(), 'note', 'x', p_idempotency_key => 'k')), 1, 'the first call appends');
select is((select seq from ledger_append(item(), 'note', 'x', p_idempotency_key => 'k')), 1, 'the second call returns the same entry');
select throws_ok($$ select ledger_append(item(), 'note', 'y', p_idempotency_key => 'k') $$, 'WL006', null, 'a key does not stand for another entry');
select is((select ledger_count from item), 1, 'a repeated call takes no number');

select * from finish();
rollback;
