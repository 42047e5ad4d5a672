begin;
select plan(5);

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

select * from finish();
rollback;
