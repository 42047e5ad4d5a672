begin;
select plan(6);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent();
select submit();
select drive();

create temporary table failure as select iteration_fail(item(), lease(), '{"class": "rate_limited", "message": "slow down", "retry_after_seconds": 40}') as what;
select is((select what ->> 'kind' from failure), 'retry', 'a rate limit is not the end');
select is((select run_at from work_items), '2026-11-20 12:00:40+00'::timestamptz, 'it waits as long as the provider asked');
select is((select state_reason from work_items), 'rate_limited: slow down', 'and says so');
select is((focus_claim(item(), 'w')) ->> 'kind', 'not_due', 'until then nobody takes it up');
set local work_ledger.now = '2026-11-20 12:00:41+00';
create temporary table again as select iteration_begin(id, (focus_claim(id, 'w') ->> 'lease')::uuid) as stage from item;
select is((select (stage -> 'request')::text from again), (stage() -> 'request')::text, 'then the same request is sent again');
select is((select call_count from turns), 2, 'and both are counted');

select * from finish();
rollback;
