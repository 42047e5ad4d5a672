-- However many items wait when the clock is set back, each wait is moved once.
begin;
select plan(3);

set local work_ledger.now = '2026-11-20 13:00:00+00';
insert into work_items (id, root_id, work_type, description, run_at, state_reason)
select id, id, 'nobody', 'Waits', '2026-11-20 13:10:00+00', 'overloaded' from (select gen_random_uuid() as id from generate_series(1, 1500)) made;
insert into fences (work_item_id, is_child, is_journal) select id, false, false from work_items on conflict do nothing;
create function pg_temp.waits() returns text[] language sql as $$
  select array_agg(format('%s until %s', n, until) order by until) from (select to_char(run_at, 'HH24:MI') as until, count(*) as n from work_items group by 1) t $$;
select from work_sweep();

set local work_ledger.now = '2026-11-20 12:00:00+00';
select from work_sweep();
select is(pg_temp.waits(), array['1000 until 12:10', '500 until 13:10'], 'a sweep moves a thousand');
select from work_sweep();
select is(pg_temp.waits(), array['1500 until 12:10'], 'the next one the rest, and none a second time');
select from work_sweep();
select is(pg_temp.waits(), array['1500 until 12:10'], 'then there is nothing to do');

select * from finish();
rollback;
