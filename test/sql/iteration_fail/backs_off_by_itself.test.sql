-- Where the provider says nothing of when to come back, each failure doubles the wait.
begin;
select plan(3);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent();
select submit();
select drive();

select from iteration_fail(item(), lease(), '{"class": "overloaded", "message": "busy"}');
select ok((select run_at from item) between '2026-11-20 12:00:00.7+00' and '2026-11-20 12:00:01.3+00', 'the first failure waits about a second');
set local work_ledger.now = '2026-11-20 12:01:00+00';
select claim(), iteration_fail(item(), lease(), '{"class": "timeout", "message": "silence"}');
select ok((select run_at from item) between '2026-11-20 12:01:01.4+00' and '2026-11-20 12:01:02.6+00', 'the second failure waits about two seconds');
select is((select model_error_count from foci), 2, 'both failures of the model are counted');

select * from finish();
rollback;
