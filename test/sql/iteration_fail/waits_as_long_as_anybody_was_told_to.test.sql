-- Of several workers whom a model tells to wait, the longest time holds for all, whoever comes last.
begin;
select plan(3);
set local work_ledger.now = '2026-01-01 12:00:00+00';

select agent('{"model": "busy"}');
create temporary table work as select n, (work_submit('analyze', 'Fix it')).id from generate_series(1, 2) n;
select drive(id) from work order by n;
create function pg_temp.fails(p_n integer, p_seconds integer) returns timestamptz language sql as $$
  select iteration_fail(id, lease(id), jsonb_build_object('class', 'rate_limited', 'retry_after_seconds', p_seconds)) from work where n = p_n;
  select cooldown_ends_at from models where name = 'busy' $$;
select is(pg_temp.fails(1, 600), '2026-01-01 12:10:00+00', 'one is told to wait for ten minutes');
select is(pg_temp.fails(2, 40), '2026-01-01 12:10:00+00', 'another, whose request was under way, for forty seconds: ten minutes hold');
select later('1 minute');
update work_items set run_at = _now() where id in (select id from work);
select is(drive((select id from work where n = 2)) ->> 'kind', 'retry', 'nobody asks in between');

select * from finish();
rollback;
