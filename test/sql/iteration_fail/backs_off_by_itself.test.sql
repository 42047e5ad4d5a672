begin;
select plan(3);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent();
select submit();
select drive();

select from iteration_fail(item(), lease(), '{"class": "overloaded", "message": "busy"}');
select ok((select run_at from work_items) between '2026-11-20 12:00:00.7+00' and '2026-11-20 12:00:01.3+00', 'about a second after the first failure');
set local work_ledger.now = '2026-11-20 12:01:00+00';
select from item cross join lateral (select (focus_claim(id, 'w') ->> 'lease')::uuid as lease offset 0) again
  cross join lateral iteration_fail(id, again.lease, '{"class": "timeout", "message": "silence"}');
select ok((select run_at from work_items) between '2026-11-20 12:01:01.4+00' and '2026-11-20 12:01:02.6+00', 'about two after the second');
select is((select model_error_count from foci), 2, 'both are counted');

select * from finish();
rollback;
