-- What waits for somebody, or should have been done by now: approvals, leases, retention.
begin;
select plan(15);

set local work_ledger.now = '2026-01-01 12:00:00+00';
create function pg_temp.of(p_metric text) returns double precision language sql as $$ select sum(value) from work_gauges() where metric = p_metric $$;
select tool('erase', 'unsafe', 'dangerous');
select agent('{"tools": ["erase"], "require_approval": "dangerous"}');
select submit('Fix it');
select play('[[["erase", {"path": "a"}], ["erase", {"path": "b"}]]]');
select later('10 minutes');
select is(pg_temp.of('work.approvals.waiting'), 2::float8, 'two calls wait');
select is(pg_temp.of('work.approvals.oldest_age'), 600::float8, 'for ten minutes');
select from tool_calls k, tool_call_approve(k.id);
select is(pg_temp.of('work.approvals.waiting'), 0::float8, 'what was decided does not wait');
select claim();
select is(pg_temp.of('work.leases.overdue'), 0::float8, 'a lease that lives is not overdue');
select later('2 minutes');
select is(pg_temp.of('work.leases.overdue'), 1::float8, 'one that has expired is, until a sweep ends it');
select from work_sweep();
select is(pg_temp.of('work.leases.overdue'), 0::float8, 'which it has');
select results_eq($$ select value, labels ->> 'faculty' from work_gauges() where metric = 'work.leases.expired' $$, $$ values (1::float8, 'worker') $$, 'and counts it');
select is(pg_temp.of('work.queue.due'), 1::float8, 'an item whose worker died is due');

select work_cancel(item());
select is(pg_temp.of('work.retention.lag'), 0::float8, 'without a policy nothing is behind');
select retention_policy_save('1 day');
select later('3 days');
select is(pg_temp.of('work.retention.lag'), 172800::float8, 'with one of a day, what ended three days ago is two behind');
create function work_test.lose(p_root uuid) returns void language plpgsql as $$ begin raise exception 'the archive is full'; end $$;
select retention_policy_save('1 day', p_export => 'work_test.lose(uuid)');
select from work_retention_run();
select is(pg_temp.of('work.retention.lag'), 172800::float8, 'so it is while its export fails');
select retention_policy_save('7 days');
select is(pg_temp.of('work.retention.lag'), 0::float8, 'not if it may stay longer');
select retention_policy_save('1 day'), later('1 hour');
select from work_retention_run(p_limit => 1);
select is(pg_temp.of('work.retention.lag'), 0::float8, 'its erasure begins');
select later('2 days');
select is(pg_temp.of('work.retention.lag'), 172800::float8, 'and is behind until it has ended');
select is((select value from work_gauges() where metric = 'work.items.ended' and labels ->> 'state' = 'cancelled'), 1::float8, 'ends are counted by state');

select * from finish();
rollback;
