begin;
select plan(7);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select from faculty_save('{"name": "worker", "accepts": ["analyze"]}');
create temporary table item as select * from work_submit('analyze', 'Find why the nightly import is slow');
create temporary table held as
  select v.claim ->> 'lease' as lease_text, (v.claim ->> 'lease')::uuid as lease, (v.claim ->> 'focus_id')::uuid as focus_id
    from focus_claim((select id from item), 'worker-1') as v(claim);

set local work_ledger.now = '2026-11-20 12:00:29+00';
select is((focus_claim((select id from item), 'worker-2')) ->> 'kind', 'busy', 'a lease of 30 s holds for 29');
set local work_ledger.now = '2026-11-20 12:00:30+00';
create temporary table second as select focus_claim((select id from item), 'worker-2') as claim;
select is((select claim ->> 'kind' from second), 'claimed', 'and not longer');
select is((select claim ->> 'lease_generation' from second), '2', 'in the next generation');
select is((select claim ->> 'focus_id' from second), (select focus_id::text from held), 'of the same focus');
select is((select crash_count from foci), 1, 'the crash is counted');
select throws_ok($$ select iteration_begin((select id from item), (select lease from held)) $$, 'WL004', null, 'the first worker cannot go on');
select throws_ok($$ select ledger_append((select id from item), 'note', 'zombie', p_lease => (select lease from held)) $$, 'WL004', null, 'nor write');

select * from finish();
rollback;
