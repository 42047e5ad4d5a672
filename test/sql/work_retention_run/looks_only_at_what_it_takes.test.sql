-- However many trees are due, a run looks at the oldest alone: otherwise each tree would cost as much as all that wait behind it.
begin;
select plan(4);

set local work_ledger.now = '2026-01-01 00:00Z';
select count(work_complete(w.id, 'Done')) from generate_series(1, 40) n cross join lateral work_submit('a', 'Old ' || n) w;
select retention_policy_save('10 days');
set local work_ledger.now = '2026-02-01 00:00Z';
set local track_functions = 'all';
select is((select count(*) from _retention_due(1)), 1::bigint, 'one is taken');
select is((select calls from pg_stat_xact_user_functions where funcname = '_retention_of'), 1::bigint, 'and no other was looked at');

select retention_policy_save('60 days');
select is_empty('select * from _retention_due(1)', 'with a longer period none is due');
select is((select calls from pg_stat_xact_user_functions where funcname = '_retention_of'), 1::bigint, 'and none was looked at, however many there are');

select * from finish();
rollback;
