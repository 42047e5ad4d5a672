-- A sweep takes expired leases away and their workers off the list.
begin;
select plan(5);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent();
select submit();
select claim(p_worker => 'worker-1');

select from lease_renew('worker-1', array[item()], array[lease()]);
select is((work_sweep() ->> 'expired')::int, 0, 'a living lease stays');
set local work_ledger.now = '2026-11-20 12:00:40+00';
create temporary table swept as select work_sweep() as what;
select is((select what ->> 'expired' from swept), '1', 'an expired lease is taken away');
select is((select what -> 'dead_workers' from swept), '["worker-1"]'::jsonb, 'the worker that held it counts as dead');
select is((select count(*) from workers), 0::bigint, 'a dead worker is off the list');
select is((select lease_hash from item), null, 'the item is free');

select * from finish();
rollback;
