-- Where the server's clock is set back by an hour, nothing waits for that hour to come again.
begin;
select plan(16);

set local work_ledger.now = '2026-11-20 13:00:00+00';
select agent('{"tools": ["look", "await_child_work"]}', '{"budget": {"seconds": 600}}');
create temporary table items as select name, submit(name) as id from unnest(array['driven', 'begun', 'parent']) name;
insert into items select 'fresh', (select w.id from work_submit('analyze', 'Fresh', p_parent_id => items.id) w) from items where name = 'parent';
insert into items select 'later', (select id from work_submit('nobody', 'Later', p_run_at => '2026-11-21 09:00:00+00'));
create function pg_temp.id(text) returns uuid language sql as $$ select id from pg_temp.items where name = $1 $$;

select take(pg_temp.id('driven'));
select drive();
select answer('[["look"]]');
select run();
select take(pg_temp.id('begun'));
select claim(p_worker => 'worker-2');
select from iteration_release(item(), lease());
update work_items set run_at = '2026-11-20 13:00:20+00', state_reason = 'overloaded' where id = item();
select take(pg_temp.id('parent'));
select drive();
select answer(jsonb_build_array(jsonb_build_array('await_child_work', jsonb_build_object('work_item_ids', jsonb_build_array(pg_temp.id('fresh')), 'timeout_seconds', 30))));
select run();
select from iteration_finish(item(), lease());
select is((select state::text from item), 'waiting', 'the parent waits for at most 30 seconds');
select from lease_renew('w', array[pg_temp.id('driven')], array[lease(pg_temp.id('driven'))]);
insert into models (name, context_window, sample_chars, sample_tokens, cooldown_ends_at) values ('busy', 200000, 4, 1, '2026-11-20 13:00:40+00');
insert into trace_exports (focus_id, claim_ends_at) values (focus(pg_temp.id('driven')), '2026-11-20 13:01:00+00');
select from work_sweep();

set local work_ledger.now = '2026-11-20 12:59:50+00';
select from work_sweep();
select is((select cooldown_ends_at from models where name = 'busy'), '2026-11-20 13:00:40+00', 'ten seconds are nothing to act on');

set local work_ledger.now = '2026-11-20 12:00:00+00';
select from ledger_watch(pg_temp.id('fresh'));
update fences set watch_notified_at = '2026-11-20 13:00:00+00' where work_item_id = pg_temp.id('fresh');
select from ledger_append(pg_temp.id('fresh'), 'note', 'Seen');
select is((select watch_notified_at from fences where work_item_id = pg_temp.id('fresh')), '2026-11-20 12:00:00+00', 'an append is told');
select isnt(trace_take(focus(pg_temp.id('driven'))) ->> 'kind', 'held', 'a trace is exported');
select from work_sweep();
select is((select lease_expires_at from foci where work_item_id = pg_temp.id('driven')), '2026-11-20 12:00:30+00', 'a lease ends when it would have, had it been renewed now');
select is((select array_agg(seen_at::text) from workers), array['2026-11-20 12:00:00+00'], 'a worker was seen now at the latest');
select ok((select run_at <= _now() from work_items where id = pg_temp.id('fresh')), 'what was due is due');
select ok((select bool_and(run_at <= _now()) from graphile_worker.jobs where key like '%' || pg_temp.id('fresh') || '%'), 'and its job runs');
select is((select run_at from work_items where id = pg_temp.id('begun')), '2026-11-20 12:00:20+00', 'a pause before another try is as long as it was');
select is((select run_at from work_items where id = pg_temp.id('later')), '2026-11-21 09:00:00+00', 'a time that was asked for stays');
select is((select cooldown_ends_at from models where name = 'busy'), '2026-11-20 12:00:40+00', 'a cooldown is as long as it was');

set local work_ledger.now = '2026-11-20 12:00:31+00';
select is(work_sweep() ->> 'expired', '1', 'a lease that nobody renews is taken away');
select is((select count(*)::int from workers), 0, 'its worker counts as dead');
select is((select spent from budgets where work_item_id = pg_temp.id('driven')), 0::numeric, 'no budget is given back seconds');
select is(claim(pg_temp.id('parent')) ->> 'kind', 'claimed', 'a wait is over when its time is');
select is((select count(*)::int from graphile_worker.jobs where run_at > _now() and key not like '%' || pg_temp.id('later') || '%'), 0, 'no job waits');

select * from finish();
rollback;
