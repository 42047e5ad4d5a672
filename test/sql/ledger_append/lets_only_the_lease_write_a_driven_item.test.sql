begin;
select plan(7);

select from faculty_save('{"name": "worker", "accepts": ["analyze"]}');
create temporary table item as select * from work_submit('analyze', 'Find why the nightly import is slow');
create temporary table held as
  select v.claim ->> 'lease' as lease_text, (v.claim ->> 'lease')::uuid as lease, (v.claim ->> 'focus_id')::uuid as focus_id
    from focus_claim((select id from item), 'worker-1') as v(claim);

select throws_ok($$ select ledger_append((select id from item), 'note', 'mine') $$, 'WL005', null, 'no lease');
select throws_ok($$ select ledger_append((select id from item), 'note', 'mine', p_lease => gen_random_uuid()) $$, 'WL004', null, 'another lease');
select is((select seq from ledger_append((select id from item), 'note', 'his', p_lease => (select lease from held))), 1, 'the lease of the driver');
select is((select attempt from ledger_read((select id from item))), 1, 'the entry belongs to the first attempt');
select isnt((select focus_id from ledger_read((select id from item))), null, 'and to its focus');

select from iteration_begin((select id from item), (select lease from held));
create temporary table failed as select from generate_series(1, 1) cross join lateral iteration_release((select id from item), (select lease from held));
select throws_ok($$ select ledger_append((select id from item), 'note', 'zombie', p_lease => (select lease from held)) $$, 'WL004', null, 'a lease that was given back');
update work_items set focus_id = null, state = 'queued';
select throws_ok($$ select ledger_append((select id from item), 'note', 'zombie', p_lease => (select lease from held)) $$, 'WL004', null, 'one whose attempt is over, though nobody drives the item now');

select * from finish();
rollback;
