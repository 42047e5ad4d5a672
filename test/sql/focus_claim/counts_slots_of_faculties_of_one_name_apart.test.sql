-- Two faculties of one name have slots of their own.
begin;
select plan(19);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select faculty_save(jsonb_build_object('name', 'engineer', 'accepts', '["task"]'::jsonb, 'max_concurrent', 1, 'project', p)) from unnest('{a,b}'::text[]) p;
select from faculty_save('{"name": "engineer", "accepts": ["task"], "max_concurrent": 2}');
create temporary table work (name text, id uuid);
create function pg_temp.new(p_name text, p_project text, p_priority integer default 0) returns uuid language sql as $$
  insert into work select p_name, (work_submit('task', p_name, p_priority => p_priority, p_project => p_project)).id returning id
$$;
create function pg_temp.id(p_name text) returns uuid language sql as $$ select id from work where name = p_name $$;
create function pg_temp.kind(p_name text) returns text language sql as $$ select focus_claim(pg_temp.id(p_name), 'w') ->> 'kind' $$;
create function pg_temp.enqueued() returns text[] language sql as $$
  select array_agg(i.name order by i.name) from work i where exists (select from graphile_worker.jobs j where j.key like '%' || i.id || '%')
$$;
select pg_temp.new(n, left(n, 1)) from unnest('{a1,a2,b1,c1,d1,d2}'::text[]) n;
select pg_temp.new('n1', null);
delete from graphile_worker._private_jobs;

select is(pg_temp.kind('a1'), 'claimed', 'the slot of one is taken');
select is((select slot_faculty from work_items where id = pg_temp.id('a1')), 'engineer@a', 'by the faculty and its project');
select is(pg_temp.kind('a2'), 'not_due', 'and not given again');
select is((select state_reason from work_items where id = pg_temp.id('a2')), 'waits for the slot of faculty "engineer@a"', 'which is said of that faculty');
select is((select waits_for from v_queue where work_item_id = pg_temp.id('a2')), 'slot', 'as the queue says');
select is(pg_temp.kind('b1'), 'claimed', 'another one of that name has its own');
select is(array[pg_temp.kind('c1'), pg_temp.kind('d1'), pg_temp.kind('d2')], '{claimed,claimed,not_due}', 'the ledger''s has its own, for all projects that have none');
select is((select array_agg(row(faculty, project, used, queued)::text order by project nulls first) from v_slots), '{"(engineer,,2,2)","(engineer,a,1,1)","(engineer,b,1,0)"}', 'each is counted by itself');
delete from graphile_worker._private_jobs;
select from work_cancel(pg_temp.id('c1'));
select is(pg_temp.enqueued(), '{d2}', 'a slot of the ledger''s goes to the eldest of any project without one of its own');
select is(pg_temp.kind('d2'), 'claimed', 'which takes it');
delete from graphile_worker._private_jobs;
select from work_cancel(pg_temp.id('d1'));
select is(pg_temp.enqueued(), '{n1}', 'the next goes to work of no project');
delete from graphile_worker._private_jobs;

-- While a slot is held, the project is renamed.
select from project_rename('a', 'shop');
select is(pg_temp.kind('a2'), 'not_due', 'a slot that was taken before a project was renamed is taken');
select is((select array[used, queued] from v_slots where project = 'shop'), '{1,1}', 'and counted');
select from work_cancel(pg_temp.id('a1'));
select is(pg_temp.enqueued(), '{a2}', 'given back, it goes to the next');
select is(pg_temp.kind('a2'), 'claimed', 'who takes it');
select is((select slot_faculty from work_items where id = pg_temp.id('a2')), 'engineer@shop', 'under the new name');

-- Between two iterations.
select from work_cancel(pg_temp.id('b1'));
select pg_temp.new('b2', 'b'), pg_temp.new('b3', 'b', 9);
select is(array[pg_temp.kind('b2'), pg_temp.kind('b3')], '{not_due,claimed}', 'the most urgent of the faculty''s own project comes first');

select from work_pause(pg_temp.id('a2'));
set local work_ledger.now = '2026-11-20 13:00:00+00';
select work_sweep();
select from work_resume(pg_temp.id('a2'));
select ok(pg_temp.id('a2') = any (array(select _queued_for('engineer@shop', null, 10))), 'an attempt that gave back its slot gets another one of its faculty');
select ok(pg_temp.id('a2') <> all (array(select _queued_for('engineer@b', null, 10))), 'not one of that of another project');

select * from finish();
rollback;
