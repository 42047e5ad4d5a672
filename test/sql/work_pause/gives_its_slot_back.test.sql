-- A paused item has no slot: the next item that waits for one is woken in the transaction in which the pause takes effect.
begin;
select plan(12);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent('{}', '{"max_concurrent": 1}');
create temporary table work as select 'paused' as name, id from work_submit('analyze', 'Paused', p_priority => 9) union all select 'next', id from work_submit('analyze', 'Next');
select take(id) from work where name = 'paused';
create function pg_temp.woken() returns text language sql as $$
  select string_agg(i.name, ', ' order by i.name) from work i where exists (select from graphile_worker.jobs j where j.key like '%' || i.id || '%')
$$;
-- Drives the item and asks for a pause; then nothing is enqueued.
create function pg_temp.asked() returns void language plpgsql as $$
begin
  perform work_resume(item());
  perform drive();
  perform work_pause(item());
  delete from graphile_worker._private_jobs;
end
$$;
create function pg_temp.slot() returns text language sql as $$ select concat_ws(' ', state, slot_faculty) from item $$;

select drive(), answer('[["note", "n"]]'), run(), iteration_finish(item(), lease());
select is(pg_temp.slot(), 'running worker', 'an item between two iterations has its slot');
delete from graphile_worker._private_jobs;
select from work_pause(item());
select is(pg_temp.slot() || ': ' || pg_temp.woken(), 'paused: next', 'an item that is paused between two iterations gives its slot to the next');

select pg_temp.asked();
select is(pg_temp.slot(), 'running worker', 'an item has its slot while its iteration runs');
select answer('[["note", "n"]]'), run(), iteration_finish(item(), lease());
select is(pg_temp.slot() || ': ' || pg_temp.woken(), 'paused: next', 'the slot is free when the iteration is over');

select pg_temp.asked(), iteration_fail(item(), lease(), '{"class": "timeout"}');
select is(pg_temp.slot() || ': ' || pg_temp.woken(), 'paused: next', 'the slot is free when the model call is to be made again later');

select pg_temp.asked(), iteration_release(item(), lease());
select is(pg_temp.slot() || ': ' || pg_temp.woken(), 'paused: next', 'the slot is free when the worker stops');

select pg_temp.asked(), work_message(item(), 'Stop', true);
select is(pg_temp.slot() || ': ' || pg_temp.woken(), 'paused: next', 'the slot is free when a person interrupts');

select pg_temp.asked(), later('1 hour');
select from focus_claim(item(), 'w2');
select is(pg_temp.slot() || ': ' || pg_temp.woken(), 'paused: next', 'the slot is free when a worker finds that the last one died');

-- However many others wait: the sweep looks at 1,000 of them, and this one comes last.
select work_submit('other', 'n' || n, p_run_at => _now() - interval '1 day') from generate_series(1, 1000) n;
select pg_temp.asked(), later('1 hour');
select from work_sweep();
select is(pg_temp.slot() || ': ' || pg_temp.woken(), 'paused: next', 'the slot is free when the sweep finds that the worker died');

select tool('push', 'unsafe', 'dangerous');
select faculty_save('{"name": "worker", "accepts": ["analyze"], "max_concurrent": 1, "engage": {"tools": ["push"], "require_approval": "dangerous"}}');
select work_resume(item()), drive(), give_up(), later('1 hour');
select pg_temp.asked(), answer('[["push"]]');
select is(iteration_finish(item(), lease()) ->> 'kind', 'paused', 'an item that is to pause and has to wait is paused');
select from tool_call_approve((select tool_call_id from approvals));
select from work_resume(item());
select drive(), iteration_finish(item(), lease());
select is(drive() #>> '{calls,0,name}', 'push', 'what was approved meanwhile runs when the item is resumed');

select give_up(), later('1 hour');
delete from graphile_worker._private_jobs;
select from work_pause(item());
select focus_claim(item(), 'w');
select is(pg_temp.woken(), 'next', 'an item that was woken for a slot and paused before it could take it passes it on');

select * from finish();
rollback;
