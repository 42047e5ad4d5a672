-- A slot that is free is for the most urgent that is queued, whosever job comes first.
begin;
select plan(7);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent('{}', '{"max_concurrent": 1}');
create temporary table work as
  select 'early' as name, id from work_submit('analyze', 'Early') union all
  select 'late', id from work_submit('analyze', 'Late', p_run_at => _now() + interval '1 second') union all
  select 'urgent', id from work_submit('analyze', 'Urgent', p_priority => 5, p_run_at => _now() + interval '2 seconds') union all
  select 'tomorrow', id from work_submit('analyze', 'Tomorrow', p_priority => 9, p_run_at => _now() + interval '1 day');
set local work_ledger.now = '2026-11-20 12:00:03+00';
create function pg_temp.id(p_name text) returns uuid language sql as $$ select id from work where name = p_name $$;
create function pg_temp.enqueued() returns text[] language sql as $$
  select array_agg(i.name order by i.name) from work i where exists (select from graphile_worker.jobs j where j.key like '%' || i.id || '%')
$$;

delete from graphile_worker._private_jobs;
select is(focus_claim(pg_temp.id('early'), 'w') ->> 'kind', 'not_due', 'a free slot is not given to who is less urgent');
select is((select state_reason from work_items where id = pg_temp.id('early')), 'waits for the slot of faculty "worker"', 'who has to wait says for what');
select is(pg_temp.enqueued(), array['urgent'], 'the most urgent item is enqueued');
select is(focus_claim(pg_temp.id('urgent'), 'w') ->> 'kind', 'claimed', 'the most urgent item takes the slot');
select is(focus_claim(pg_temp.id('late'), 'w') ->> 'kind', 'not_due', 'a slot that is taken is not given again');
delete from graphile_worker._private_jobs;
select from work_cancel(pg_temp.id('urgent'));
select is(pg_temp.enqueued(), array['early'], 'a slot that is given back goes to the eldest of the others that are due');
select is(focus_claim(pg_temp.id('early'), 'w') ->> 'kind', 'claimed', 'the eldest takes the slot');

select * from finish();
rollback;
