begin;
select plan(6);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select from faculty_save('{"name": "worker", "accepts": ["analyze"]}');
create temporary table item as select * from work_submit('analyze', 'Find why the nightly import is slow');
create temporary table held as
  select v.claim ->> 'lease' as lease_text, (v.claim ->> 'lease')::uuid as lease, (v.claim ->> 'focus_id')::uuid as focus_id
    from focus_claim((select id from item), 'worker-1') as v(claim);
create temporary table begun as
  select (v.stage ->> 'turn_id')::uuid as turn_id, v.stage
    from iteration_begin((select id from item), (select lease from held)) as v(stage);

create temporary table failure as select iteration_fail((select id from item), (select lease from held), '{"class": "rate_limited", "message": "slow down", "retry_after_seconds": 40}') as what;
select is((select what ->> 'kind' from failure), 'retry', 'a rate limit is not the end');
select is((select run_at from work_items), '2026-11-20 12:00:40+00'::timestamptz, 'it waits as long as the provider asked');
select is((select state_reason from work_items), 'rate_limited: slow down', 'and says so');
select is((focus_claim((select id from item), 'w')) ->> 'kind', 'not_due', 'until then nobody takes it up');
set local work_ledger.now = '2026-11-20 12:00:41+00';
create temporary table again as select iteration_begin(id, (focus_claim(id, 'w') ->> 'lease')::uuid) as stage from item;
select is((select (stage -> 'request')::text from again), (select (stage -> 'request')::text from begun), 'then the same request is sent again');
select is((select call_count from turns), 2, 'and both are counted');

select * from finish();
rollback;
