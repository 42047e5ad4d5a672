-- From the moment at which its files are about to be made, an item is driven by workers of that Docker daemon alone.
begin;
select plan(20);

set local work_ledger.now = '2026-11-22 12:00Z';
create function pg_temp.job() returns text language sql as $$
  select task_identifier from graphile_worker.jobs where key like '%' || item() || '%' and locked_by is null
$$;
create function pg_temp.taken() returns void language sql as $$ delete from graphile_worker._private_jobs where key like '%' || item() || '%' $$;
create function pg_temp.seen(p_worker text, p_host text, p_daemon text) returns void language sql as $$ select from lease_renew(p_worker, '{}', '{}', p_host, p_daemon => p_daemon) $$;

select agent('{"tools": ["look"]}', '{"recover": {"max_attempts": 3}}');
select pg_temp.seen('a', 'left', 'd1'), pg_temp.seen('b', 'right', 'd2');
select submit(), pg_temp.taken();
select claim(p_worker => 'a');
select throws_ok($$ select workspace_bind(item(), gen_random_uuid(), 'd1') $$, 'WL004', null, 'who lost the lease makes no files');
select throws_ok($$ select workspace_bind(item(), lease(), ' ') $$, 'WL002', null, 'a daemon has a name');
select is(workspace_bind(item(), lease(), 'd1'), null, 'who holds it makes them at its daemon');
select is(workspace_bind(item(), lease(), 'd1'), null, 'as often as it likes');
select is(workspace_bind(item(), lease(), 'd2'), 'left', 'a daemon that is another one all of a sudden is not the place');
select is((select array[workspace_daemon, workspace_host] from item), array['d1', 'left'], 'where they are is written down');

select begin_iteration();
select iteration_release(item(), lease());
select is(pg_temp.job(), _job_task_at('left'), 'the job is for a host of that daemon');
select pg_temp.taken();
select is((select says ->> 'host' from claim(p_worker => 'b') says), 'left', 'a worker of another daemon is told where the item goes');
select is((select array[says ->> 'kind', says ->> 'host'] from claim(p_worker => 'never heard of') says), array['not_due', 'left'], 'a worker that sent no heartbeat, too');
select is(pg_temp.job(), _job_task_at('left'), 'and its job is there');

select pg_temp.taken(), pg_temp.seen('c', 'left', 'd3');
select is((select array[says ->> 'host', says ->> 'run_at'] from claim(p_worker => 'c') says), array['left', to_jsonb(_now() + interval '1 second') #>> '{}'],
  'a worker of the same host with another daemon gives way for a second, so that the two do not hand it to and fro');

delete from workers where id = 'a';
select later('2 seconds'), pg_temp.taken();
select is((select says ->> 'reason' from claim(p_worker => 'b') says), 'waits for a worker at the Docker daemon of host "left", where its files are', 'when no worker of the daemon lives, the item waits and says for what');
select pg_temp.seen('a again', 'another name', 'd1');
select is((work_sweep() ->> 'enqueued')::int, 1, 'a worker of the daemon may come back under another name');
select is(pg_temp.job(), _job_task_at('another name'), 'and gets the job');
select pg_temp.taken();
select is((select says ->> 'kind' from claim(p_worker => 'a again') says), 'claimed', 'it goes on with the files');

select give_up(), later('1 hour');
select pg_temp.taken();
select is((select says ->> 'host' from claim(p_worker => 'b') says), 'another name', 'the next attempt goes on with them, too');
select is((select says ->> 'attempt' from claim(p_worker => 'a again') says), '2', 'there');
select begin_iteration(), answer('[["note", "so"]]'), run();
select is((select workspace_daemon from work_fork(turn(), 'Another way')), null, 'a fork has files of its own');
select is((select workspace_daemon from spawn_child_work(item(), 'analyze', 'A part', p_lease => lease())), null, 'and so has a child');

select work_cancel(item());
select is((select count(*) from work_ledger_doctor() where code = 'hosts' and severity <> 'fine'), 0::bigint, 'what is over waits for no host');

select * from finish();
rollback;
