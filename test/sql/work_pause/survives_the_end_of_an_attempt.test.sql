-- What a person paused stays paused, however the attempt that was running ends, until it is resumed.
begin;
select plan(11);

select agent('{}', '{"recover": {"max_attempts": 9}}');
select submit('Fix it');
create function pg_temp.paused() returns text language sql as $$
  select concat_ws(', ', state, state_reason, 'attempt ' || attempts, case when is_pausing then 'pausing' end) from item
$$;
create function pg_temp.fail() returns text language sql as $$ select iteration_fail(item(), lease(), '{"class": "malformed_response"}') ->> 'kind' $$;

select drive(), pg_temp.fail(), later('1 minute');
select drive(), pg_temp.fail(), later('1 minute');
select drive(), pg_temp.fail(), later('1 minute');
select drive();
select from work_pause(item(), 'until the freeze is over');
select is(pg_temp.fail(), 'paused', 'a worker whose attempt failed hears that the item is paused');
select is(pg_temp.paused(), 'paused, until the freeze is over; malformed_response, attempt 1', 'an attempt that failed leaves the item paused, for both reasons');
select later('1 hour');
select is(focus_claim(item(), 'w2') ->> 'state', 'paused', 'nobody begins the next attempt');
select from work_resume(item());
select is(drive() ->> 'kind', 'call_model', 'the next attempt begins when the item is resumed');
select is((select attempts from item), 2, 'it is the second attempt');

select from work_pause(item(), 'until Monday');
select pg_temp.fail();
select is(pg_temp.paused(), 'paused, until Monday; malformed_response, attempt 2', 'a model call that failed and is made again later leaves the item paused');
select from work_resume(item());

select drive();
select from work_pause(item(), 'until Tuesday');
select later('1 hour');
select from work_sweep();
select is(pg_temp.paused(), 'paused, until Tuesday, attempt 2', 'a worker that died leaves the item paused');
select from work_resume(item());

select drive();
select from work_pause(item(), 'until Wednesday');
select later('1 hour');
select is(focus_claim(item(), 'w2') ->> 'state', 'paused', 'a worker that comes before the sweep does not take the item over');
select from work_resume(item());

select drive();
select from work_pause(item(), 'until Thursday');
select iteration_release(item(), lease());
select is(pg_temp.paused(), 'paused, until Thursday, attempt 2', 'a worker that stops leaves the item paused');
select from work_resume(item());

select give_up();
select faculty_save('{"name": "worker", "accepts": ["analyze"], "recover": {"max_attempts": 9}, "engage": {"mode": "external", "command": "true"}}');
select later('1 hour');
select drive();
select from work_pause(item(), 'until Friday');
select hook_record(item(), lease(), (stage() ->> 'hook_run_id')::uuid, '{"exit_code": 1}');
select matches(pg_temp.paused(), '^paused, until Friday; the engage command .*, attempt 3$', 'an engage command that failed leaves the item paused');
select from work_resume(item());

update work_items set max_attempts = 4 where id = item();
select drive();
select from work_pause(item(), 'until Saturday');
select hook_record(item(), lease(), (stage() ->> 'hook_run_id')::uuid, '{"exit_code": 1}');
select is((select state from item), 'dead', 'an item that is over is not paused');

select * from finish();
rollback;
