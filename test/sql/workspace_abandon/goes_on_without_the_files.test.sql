-- Files at a Docker daemon that does not come back are given up: the work goes on elsewhere, and its agent is told.
begin;
select plan(11);

set local work_ledger.now = '2026-11-22 12:00Z';
create function pg_temp.taken() returns void language sql as $$ delete from graphile_worker._private_jobs where key like '%' || item() || '%' $$;
select agent();
select from lease_renew('a', '{}', '{}', 'left', p_daemon => 'd1');
select from lease_renew('b', '{}', '{}', 'right', p_daemon => 'd2');
select submit(), pg_temp.taken();
select is((select state from workspace_abandon(item())), 'queued', 'an item without files is left as it is');
select is((select count(*) from inbox), 0::bigint, 'and its agent told nothing');
select claim(p_worker => 'a');
select workspace_bind(item(), lease(), 'd1');
select throws_ok($$ select workspace_abandon(item()) $$, 'WL008', null, 'files that a worker uses are not given up');

delete from workers where id = 'a';
select later('1 minute');
select from lease_renew('b', '{}', '{}', 'right', p_daemon => 'd2');
select work_sweep(), pg_temp.taken();
select is((select says ->> 'host' from claim(p_worker => 'b') says), null, 'the item waits for the host of its files');
select is((select array[state, workspace_daemon, workspace_host, state_reason] from workspace_abandon(item())), array['queued', null, null, null], 'until they are given up');
select is((select task_identifier from graphile_worker.jobs where key like '%' || item() || '%'), _job_task(), 'then any worker may drive it');
select drive(p_worker => 'b');
select matches((select body::text from work_test.request), 'The files of your workspace are lost: they were on host ..left', 'and its agent is told that they are lost');
select is(workspace_bind(item(), lease(), 'd2'), null, 'new files are made where it is now');
select is((select array[workspace_daemon, workspace_host] from item), array['d2', 'right'], 'and it stays there');

select work_cancel(item());
select throws_ok($$ select workspace_abandon(item()) $$, 'WL003', null, 'what is over keeps its files for as long as its faculty says');
select throws_ok($$ select workspace_abandon('00000000-0000-7000-8000-000000000000') $$, 'WL001', null, 'work that is not there has none');

select * from finish();
rollback;
