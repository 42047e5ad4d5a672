-- A model that asked for a pause is asked by nobody until it is over, and other models as ever.
begin;
select plan(11);
set local work_ledger.now = '2026-01-01 12:00:00+00';

select agent('{"model": "busy"}');
select from faculty_save('{"name": "other", "accepts": ["other"], "engage": {"model": "free"}}');
create temporary table work as select n, (work_submit(case n when 3 then 'other' else 'analyze' end, 'Fix it')).id from generate_series(1, 3) n;

select take(id) from work where n = 1;
select is(drive() ->> 'kind', 'call_model', 'the first item asks the model');
select is(iteration_fail(item(), lease(), '{"class": "rate_limited", "message": "too many", "retry_after_seconds": 40}') ->> 'kind', 'retry', 'a rate limit is tried again');
select is((select cooldown_ends_at from models where name = 'busy'), '2026-01-01 12:00:40+00', 'the cooldown is the model''s, for everybody');
select take(id) from work where n = 2;
select is(drive() ->> 'kind', 'retry', 'the next item does not ask');
select ok((stage() ->> 'run_at')::timestamptz between '2026-01-01 12:00:40+00' and '2026-01-01 12:00:50+00', 'an item that waits for a cooldown comes back behind it, spread a little');
select is((select state_reason from item), 'rate_limited: too many', 'an item that waits for a cooldown says why');
select is((select call_count from turns where work_item_id = item()), 0, 'no request is counted for an item that waits');
select is((select model_error_count from foci where work_item_id = item()), 0, 'no error is counted for an item that waits');
select is(drive((select id from work where n = 3)) ->> 'kind', 'call_model', 'another model is asked as ever');
set local work_ledger.now = '2026-01-01 12:01:00+00';
select is(drive() ->> 'kind', 'call_model', 'after the cooldown the model is asked again');
select answer('["Done."]');
select is((select cooldown_ends_at from models where name = 'busy'), null, 'an answer ends the cooldown');

select * from finish();
rollback;
