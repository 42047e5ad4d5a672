begin;
select plan(4);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select from faculty_save('{"name": "worker", "accepts": ["analyze"]}');
create temporary table item as select * from work_submit('analyze', 'Find why the nightly import is slow');
create temporary table held as
  select v.claim ->> 'lease' as lease_text, (v.claim ->> 'lease')::uuid as lease, (v.claim ->> 'focus_id')::uuid as focus_id
    from focus_claim((select id from item), 'worker-1') as v(claim);

set local work_ledger.now = '2026-11-20 12:00:20+00';
select is((select array_agg(r) from lease_renew('worker-1') r), (select array_agg(id) from item), 'a living lease is renewed');
select is((select lease_expires_at from foci), '2026-11-20 12:00:50+00'::timestamptz, 'for its full length');
select is((select array_agg(r) from lease_renew('worker-2') r), null, 'only its holder renews it');
set local work_ledger.now = '2026-11-20 12:01:00+00';
select is((select array_agg(r) from lease_renew('worker-1') r), null, 'an expired one is not revived');

select * from finish();
rollback;
