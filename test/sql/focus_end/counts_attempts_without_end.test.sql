-- However many attempts an item has had, one more can end: the pause before the next stays ten minutes.
begin;
select plan(2);

select set_config('work_ledger.now', '2030-01-01T00:00:00Z', true);
select agent('{}', '{"recover": {"max_attempts": 100000, "backoff": "exponential"}}');
select submit();
update work_items set attempts = 1100 where id = item();
select drive();
select lives_ok($$ select give_up() $$, 'the attempt after 1,100 others ends');
select is((select (attempts, state, run_at - _now())::text from item), '(1101,queued,00:10:00)', 'and the next is due in ten minutes');

select * from finish();
rollback;
