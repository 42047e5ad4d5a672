-- With an idempotency key an entry is appended once, however often it is asked for.
begin;
select plan(6);

select submit();

select is((select seq from ledger_append(item(), 'note', 'x', p_idempotency_key => 'k')), 1, 'the first call appends');
select is((select seq from ledger_append(item(), 'note', 'x', p_idempotency_key => 'k')), 1, 'the second call returns the same entry');
select from ledger_append_batch(item(), '[{"entry_type": "note", "content": "x"}]', p_idempotency_key => 'batch');
select throws_ok($$ select ledger_append(item(), 'note', 'y', p_idempotency_key => 'k') $$, 'WL006', null, 'a key does not stand for another entry');
select is((select ledger_count from item), 2, 'a repeated call takes no number');

-- Also when the words are gone: nothing is written twice because nobody knows any more what was written.
select from work_complete(item(), 'done');
select from work_erase(item());
select is((select seq from ledger_append(item(), 'note', 'x', p_idempotency_key => 'k')), 1, 'of an erased item, too, the call returns the entry');
select is((select seq from ledger_append_batch(item(), '[{"entry_type": "note", "content": "x"}]', p_idempotency_key => 'batch')), 2, 'or those of a batch');

select * from finish();
rollback;
