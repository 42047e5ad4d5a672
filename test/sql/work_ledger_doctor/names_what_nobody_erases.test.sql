-- work_ledger_doctor() says when policies are not kept: nobody erases, an erasure is not done, an export fails.
begin;
select plan(5);

create function pg_temp.found() returns text language sql as $$
  select string_agg(format('%s: %s', severity, says), '; ' order by says) from work_ledger_doctor() where code = 'retention' $$;
set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent(), submit('Fix it'), play('[["Done."]]');
select later('10 days');
select is(pg_temp.found(), 'fine: what policies should have erased is erased', 'without a policy nothing is due');
select from retention_policy_save('9 days 23 hours', 'completed');
select is(pg_temp.found(), 'fine: what policies should have erased is erased', 'what is due since an hour is erased by the next round of a worker');
select later('2 hours');
select is(pg_temp.found(), 'warning: a tree of work should have been erased by policy, the first at 2026-11-30 11:00:00 UTC, but nothing does so', 'what is due for longer is named');
insert into retention_runs values (item(), 'the disk is full', _now());
select is(pg_temp.found(), 'warning: it should have been erased, but its export failed: the disk is full', 'an export that fails is named');
delete from retention_runs;
select work_retention_run();
select later('3 hours');
select matches(pg_temp.found(), '^warning: its erasure began at 2026-11-30 14:00:00 UTC and has not finished$', 'an erasure that is not done is named');

select * from finish();
rollback;
