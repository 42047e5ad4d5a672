-- While a focus drives an item, only the holder of the current lease writes its ledger.
begin;
select plan(7);

select agent();
select submit();
select claim();

select throws_ok($$ select ledger_append(item(), 'note', 'mine') $$, 'WL005', null, 'without a lease nothing is written');
select throws_ok($$ select ledger_append(item(), 'note', 'mine', p_lease => gen_random_uuid()) $$, 'WL004', null, 'with another lease nothing is written');
select is((select seq from ledger_append(item(), 'note', 'his', p_lease => lease())), 1, 'with the current lease an entry is written');
select is((select attempt from ledger_read(item())), 1, 'the entry belongs to the first attempt');
select isnt((select focus_id from ledger_read(item())), null, 'the entry belongs to its focus');

select begin_iteration(), iteration_release(item(), lease());
select throws_ok($$ select ledger_append(item(), 'note', 'zombie', p_lease => lease()) $$, 'WL004', null, 'a lease that was given back writes nothing');
update work_items set focus_id = null, state = 'queued';
select throws_ok($$ select ledger_append(item(), 'note', 'zombie', p_lease => lease()) $$, 'WL004', null, 'a lease whose attempt is over writes nothing, though nobody drives the item now');

select * from finish();
rollback;
