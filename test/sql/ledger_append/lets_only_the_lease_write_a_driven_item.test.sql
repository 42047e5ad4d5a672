begin;
select plan(7);

select agent();
select submit();
select claim();

select throws_ok($$ select ledger_append(item(), 'note', 'mine') $$, 'WL005', null, 'no lease');
select throws_ok($$ select ledger_append(item(), 'note', 'mine', p_lease => gen_random_uuid()) $$, 'WL004', null, 'another lease');
select is((select seq from ledger_append(item(), 'note', 'his', p_lease => lease())), 1, 'the lease of the driver');
select is((select attempt from ledger_read(item())), 1, 'the entry belongs to the first attempt');
select isnt((select focus_id from ledger_read(item())), null, 'and to its focus');

select from iteration_begin(item(), lease());
create temporary table failed as select from generate_series(1, 1) cross join lateral iteration_release(item(), lease());
select throws_ok($$ select ledger_append(item(), 'note', 'zombie', p_lease => lease()) $$, 'WL004', null, 'a lease that was given back');
update work_items set focus_id = null, state = 'queued';
select throws_ok($$ select ledger_append(item(), 'note', 'zombie', p_lease => lease()) $$, 'WL004', null, 'one whose attempt is over, though nobody drives the item now');

select * from finish();
rollback;
