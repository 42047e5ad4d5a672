-- After a rate limit the same request is sent again, when the provider asked for it.
begin;
select plan(6);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent();
select submit();
select drive();

select is(iteration_fail(item(), lease(), '{"class": "rate_limited", "message": "slow down", "retry_after_seconds": 40}') ->> 'kind', 'retry', 'a rate limit is not the end');
select is((select run_at from item), '2026-11-20 12:00:40+00'::timestamptz, 'the item waits as long as the provider asked');
select is((select state_reason from item), 'rate_limited: slow down', 'the item says why it waits');
select is(focus_claim(item(), 'w') ->> 'kind', 'not_due', 'before the provider is asked again nobody takes the item up');
set local work_ledger.now = '2026-11-20 12:00:41+00';
select drive();
select is((select body::text from request where n = 2), (select body::text from request where n = 1), 'after the wait the same request is sent again');
select is((select call_count from turns), 2, 'both requests of the turn are counted');

select * from finish();
rollback;
