-- A worker drives what it was started for: work of its project and of none. Jobs go to those that may, and never to and fro.
begin;
select plan(30);

set local work_ledger.now = '2026-11-22 12:00Z';
select agent();
create temporary table work (name text, id uuid);
create function pg_temp.seen(p_worker text, p_project text, p_host text default 'here', p_daemon text default null) returns void language sql as $$
  select from lease_renew(p_worker, '{}', '{}', p_host, p_daemon => p_daemon, p_project => p_project)
$$;
create function pg_temp.new(p_name text, p_project text) returns uuid language sql as $$
  insert into work select p_name, (work_submit('analyze', p_name, p_project => p_project)).id returning id
$$;
create function pg_temp.id(p_name text) returns uuid language sql as $$ select id from work where name = p_name $$;
-- For whom the job of an item is.
create function pg_temp.job(p_name text) returns text language sql as $$
  select coalesce((select string_agg(k.id, '+' order by k.id) from workers k where j.task_identifier = any (_worker_tasks(k))), case j.task_identifier when _job_task() then 'whoever comes' else j.task_identifier end)
    from graphile_worker.jobs j where key like '%' || pg_temp.id(p_name) || '%' and locked_by is null
$$;
create function pg_temp.kind(p_name text, p_worker text) returns text language sql as $$ select concat_ws(' ', says ->> 'kind', says ->> 'reason') from focus_claim(pg_temp.id(p_name), p_worker) says $$;
create function pg_temp.swept() returns integer language sql as $$ select (work_sweep() ->> 'enqueued')::integer $$;

select is(_worker_tasks(row('w', 'here', 1, '1', null, 1, 'r', now(), now(), null, 'a')::workers),
  array[current_schema || '/engage/project:' || md5('a'), current_schema || '/engage/host:' || md5(E'here\na')], 'a worker of a project looks for the jobs of that, there');

-- Nobody lives.
select pg_temp.new('a1', 'a'), pg_temp.new('n1', null);
select is(pg_temp.job('a1'), 'whoever comes', 'while no worker lives, the job is for whoever comes');
select is((select why from v_queue where work_item_id = pg_temp.id('a1')), 'ready for the next free worker', 'which is what the item waits for');

-- A worker of another project.
select pg_temp.seen('b', 'b');
select is(pg_temp.swept(), 2, 'a worker of another project begins: its sweep finds both');
select is(array[pg_temp.job('a1'), pg_temp.job('n1')], '{b,b}', 'what it may drive, and what it has to say that it may not');
select is(pg_temp.swept(), 0, 'and no sweep moves anything again');
select is(pg_temp.kind('a1', 'b'), 'not_due waits for a worker for project "a"', 'of the other project it gets nothing');
delete from graphile_worker._private_jobs where key like '%' || pg_temp.id('a1') || '%';
select is((select array[state, state_reason, is_stranded::text] from work_items where id = pg_temp.id('a1')), '{waiting,"waits for a worker for project \"a\"",true}', 'the item waits, and says for what');
select is((select array[says, remedy] from work_ledger_doctor() where code = 'hosts' and severity = 'error'), '{"waits for a worker for project \"a\"","Run \"work-ledger work\" in its directory, or \"work-ledger work --all-projects\"."}', 'the doctor knows what helps');
select is(pg_temp.swept(), 0, 'no sweep makes a job in vain');
select pg_temp.new('a2', 'a');
select is(array[pg_temp.kind('a2', 'b'), (select pg_temp.job('a2'))], '{"not_due waits for a worker for project \"a\"",b}', 'as with new work');
delete from graphile_worker._private_jobs where key like '%' || pg_temp.id('a2') || '%';
select is(pg_temp.kind('n1', 'b'), 'claimed', 'what is of no project it drives');

-- One of its own.
select pg_temp.seen('a', 'a');
select is(pg_temp.swept(), 2, 'a worker of the project begins: its sweep finds what waited');
select is(array[pg_temp.job('a1'), pg_temp.job('a2')], '{a,a}', 'which is for it now');
select is(pg_temp.kind('a1', 'b'), 'not_due waits for a worker for project "a"', 'the other one is told where it goes');
select is((select array[state, (run_at <= _now())::text] from work_items where id = pg_temp.id('a1')), '{queued,true}', 'at once: they do not look for the same jobs');
select is(array[pg_temp.kind('a1', 'a'), pg_temp.kind('a2', 'a')], '{claimed,claimed}', 'and it drives it');

-- One for all.
select pg_temp.seen('all', null);
select pg_temp.new('a3', 'a'), pg_temp.new('b3', 'b'), pg_temp.new('c3', 'c'), pg_temp.new('n3', null);
select is(array[pg_temp.job('a3'), pg_temp.job('b3'), pg_temp.job('c3'), pg_temp.job('n3')], '{a,b,all,all}', 'work is for those who are there for it alone, else for those who are there for all');
select is(pg_temp.swept(), 0, 'each is a job that will run');
select is(array[pg_temp.kind('b3', 'all'), pg_temp.kind('c3', 'all')], '{claimed,claimed}', 'a worker for all drives all');
select from worker_stop('a');
select is(array[pg_temp.swept()::text, pg_temp.job('a3')], '{1,all}', 'when the last one of the project is gone, others take over');
select pg_temp.seen('a', 'a');
select is(pg_temp.swept(), 0, 'who comes back takes no job from them that will run');

-- Other names of one project.
select from project_rename('a', 'shop');
select pg_temp.new('s1', 'shop');
select is(pg_temp.job('s1'), 'a', 'a worker serves its project by any name of that');
select is(pg_temp.kind('s1', 'a'), 'claimed', 'and drives its work');
select is((select project from v_workers where id = 'a'), 'shop', 'it is shown with the name of today');

-- Hosts, daemons and projects.
select agent(p_more => '{"hosts": ["there"]}');
select pg_temp.seen('b there', 'b', 'there'), pg_temp.seen('a there', 'a', 'there');
select pg_temp.new('h1', 'a');
select is(pg_temp.job('h1'), 'a there', 'on a host, the job is for those of the project');
select is(pg_temp.kind('h1', 'b there'), 'not_due waits for a worker for project "shop" on host "there"', 'not for its neighbours');
select is(pg_temp.kind('h1', 'a there'), 'claimed', 'which drive it');
-- A tree that is kept.
select pg_temp.new('k1', 'a');
select from work_keep(pg_temp.id('k1'), 'keeper', 'there');
select is(pg_temp.job('k1'), 'keeper', 'who keeps a tree is asked for no project');
select throws_ok($$ select lease_renew('w', '{}', '{}', p_project => ' ') $$, 'WL002', null, 'a blank project is refused');

select * from finish();
rollback;
