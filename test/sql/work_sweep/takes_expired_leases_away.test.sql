begin;
select plan(5);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select from faculty_save('{"name": "worker", "accepts": ["analyze"]}');
create temporary table item as select * from work_submit('analyze', 'Find why the nightly import is slow');
create temporary table held as
  select v.claim ->> 'lease' as lease_text, (v.claim ->> 'lease')::uuid as lease, (v.claim ->> 'focus_id')::uuid as focus_id
    from focus_claim((select id from item), 'worker-1') as v(claim);

select from lease_renew('worker-1', array(select lease from held));
select is((work_sweep() ->> 'expired')::int, 0, 'a living lease stays');
set local work_ledger.now = '2026-11-20 12:00:40+00';
create temporary table swept as select work_sweep() as what;
select is((select what ->> 'expired' from swept), '1', 'an expired one goes');
select is((select what -> 'dead_workers' from swept), '["worker-1"]'::jsonb, 'the worker that held it is dead');
select is((select count(*) from workers), 0::bigint, 'and off the list');
select is((select lease_token from work_items), null, 'the item is free');

select * from finish();
rollback;
