-- A claim lives as long as the attempt that made it: no longer than its lease, not through a pause; a fork has none.
begin;
select plan(19);

select tool('edit_file', 'unsafe', 'moderate');
select agent('{"workspace": "host", "workspace_dir": "/shop", "tools": ["edit_file"], "ledger_nudge_interval": 0}', '{"claims": "refuse"}');
create temporary table ended (scope text, key text);
create or replace function _claim_released(p_scope text, p_key text) returns void language sql set search_path = pg_catalog, ledger, pg_temp as $$ insert into pg_temp.ended values (p_scope, p_key) $$;
create function pg_temp.edit() returns void language sql as $$ select play('[[["edit_file", {"path": "a.js"}, "done"]]]') $$;
create function pg_temp.held() returns text language sql as $$ select string_agg(key, ',') from v_claims where work_item_id = item() $$;

select submit();
select pg_temp.edit();
select is(pg_temp.held(), 'file:a.js', 'between iterations, when no worker has a lease, it holds');
select from work_message(item(), 'Look here first', true);
select is(pg_temp.held(), 'file:a.js', 'an interruption leaves it: the attempt goes on');
select is((select count(*) from claims c join work_items w on w.id = c.work_item_id where w.id = (work_fork((select id from turns where work_item_id = item() limit 1), 'Try it otherwise')).id), 0::bigint, 'a fork has none');
select from give_up();
select is(pg_temp.held(), null, 'an attempt that fails lets go, and the next one claims anew');
set constraints all immediate;
select results_eq('select scope, key from ended', $$ values ('/shop', 'file:a.js') $$, 'whoever waits for it can be told');
set constraints all deferred;
truncate ended;

select later('1 hour');
select pg_temp.edit();
select is(pg_temp.held(), 'file:a.js', 'it does');
select from work_pause(item());
select is(pg_temp.held(), null, 'work that is paused holds nothing');
set constraints all immediate;
set constraints all deferred;
select is((select count(*) from ended), 1::bigint, 'and that is told');
select from work_resume(item());
select is(pg_temp.held(), null, 'nor is it given back');

select pg_temp.edit();
select drive();
select is(pg_temp.held(), 'file:a.js', 'under a lease it holds');
select is((select claims from v_now where work_item_id = item()), 1, 'and is counted');
select later('31 seconds');
select is(pg_temp.held(), null, 'with the lease it lapses, at once');
select is((select claims from v_now where work_item_id = item()), 0, 'and is not counted');
select is((select count(*) from claims where work_item_id = item()), 1::bigint, 'before anybody has swept');
select from work_sweep();
select is((select count(*) from claims where work_item_id = item()), 0::bigint, 'a sweep removes it');
set constraints all immediate;
set constraints all deferred;
select is((select count(*) from ended), 2::bigint, 'and that is told');

select drive();
select answer('[["edit_file", {"path": "a.js"}]]');
select is(pg_temp.held(), 'file:a.js', 'a call that is open has claimed');
select later('31 seconds'), work_sweep();
select drive();
select is(pg_temp.held(), 'file:a.js', 'the worker that goes on with an open call claims for it again');
select from work_cancel(item());
select is((select count(*) from claims), 0::bigint, 'what is over has none');

select * from finish();
rollback;
