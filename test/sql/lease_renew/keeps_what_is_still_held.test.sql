-- A heartbeat renews the leases that it names, while they are held.
begin;
select plan(10);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent();
select submit();
select claim(p_worker => 'worker-1');

set local work_ledger.now = '2026-11-20 12:00:20+00';
select is((select array_agg(r) from lease_renew('worker-1', '{}', '{}') r), null, 'a lease that is not named is not renewed');
select is((select lease_expires_at from foci), '2026-11-20 12:00:30+00'::timestamptz, 'a lease that is not renewed runs out');
select is((select array_agg(r) from lease_renew('worker-1', array[item()], array[lease()]) r), array[lease()], 'a living lease that is named is renewed');
select is((select lease_expires_at from foci), '2026-11-20 12:00:50+00'::timestamptz, 'a renewed lease has its full length again');
select is((select array_agg(r) from lease_renew('worker-1', array[item()], array[gen_random_uuid()]) r), null, 'a lease that is not the item''s is not held');
set local work_ledger.now = '2026-11-20 12:00:25+00';
select from lease_renew('worker-1', array[item()], array[gen_random_uuid()]);
select is((select lease_expires_at from foci), '2026-11-20 12:00:50+00'::timestamptz, 'nor renewed');
select is((select array_agg(r) from lease_renew('worker-1', array[gen_random_uuid()], array[lease()]) r), null, 'a lease that is named for another item is not held');
set local work_ledger.now = '2026-11-20 12:00:30+00';
select is((select array_agg(r) from lease_renew('worker-2', array[item()], array[lease()]) r), null, 'another worker is told of no lease');
select is((select lease_expires_at from foci), '2026-11-20 12:00:50+00'::timestamptz, 'another worker does not renew a lease');
set local work_ledger.now = '2026-11-20 12:01:00+00';
select is((select array_agg(r) from lease_renew('worker-1', array[item()], array[lease()]) r), null, 'an expired lease is not revived');

select * from finish();
rollback;
