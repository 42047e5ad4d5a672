begin;
select plan(6);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select from faculty_save('{"name": "worker", "accepts": ["analyze"]}');
create temporary table item as select * from work_submit('analyze', 'Find why the nightly import is slow');
create temporary table held as
  select v.claim ->> 'lease' as lease_text, (v.claim ->> 'lease')::uuid as lease, (v.claim ->> 'focus_id')::uuid as focus_id
    from focus_claim((select id from item), 'worker-1') as v(claim);

set local work_ledger.now = '2026-11-20 12:00:20+00';
select is((select array_agg(r) from lease_renew('worker-1', '{}') r), null, 'a lease that is not named');
select is((select lease_expires_at from foci), '2026-11-20 12:00:30+00'::timestamptz, 'runs out');
select is((select array_agg(r) from lease_renew('worker-1', array(select lease from held)) r), (select array_agg(lease) from held), 'a living lease that is named is renewed');
select is((select lease_expires_at from foci), '2026-11-20 12:00:50+00'::timestamptz, 'for its full length');
select is((select array_agg(r) from lease_renew('worker-2', array(select lease from held)) r), null, 'only its holder renews it');
set local work_ledger.now = '2026-11-20 12:01:00+00';
select is((select array_agg(r) from lease_renew('worker-1', array(select lease from held)) r), null, 'an expired one is not revived');

select * from finish();
rollback;
