-- Due is whatever a worker could go on with, in whichever state it is: an alert for work that no worker takes relies on it.
begin;
select plan(8);

set local work_ledger.now = '2026-01-01 12:00:00+00';
create function pg_temp.due() returns text language sql as $$
  select string_agg(concat_ws(' ', d.labels ->> 'faculty', d.labels ->> 'project', d.value, a.value), ', ' order by d.labels)
    from work_gauges() d join work_gauges() a on a.metric = 'work.queue.oldest_age' and a.labels = d.labels
   where d.metric = 'work.queue.due' and d.value > 0
$$;
create function pg_temp.seen(p_worker text, p_project text) returns void language sql as $$
  select from lease_renew(p_worker, '{}', '{}', 'here', p_project => p_project)
$$;
select agent();

-- The only worker dies while it drives an item: no sweep ends its lease.
select submit('Fix it');
select drive();
select is(pg_temp.due(), null, 'what a worker drives is not due');
select later('1 minute');
select is(pg_temp.due(), 'worker 1 30', 'what its worker left is due since its lease ended, though no worker is there to end it');
select from work_sweep();
select is(pg_temp.due(), 'worker 1 0', 'and after a sweep');

-- It waits for a time, and nobody is there when that has come.
select drive();
select answer('[["wait_for", {"until": "2026-01-01T12:10:00Z"}]]');
select run();
select iteration_finish(item(), lease());
select is((select array[state, pg_temp.due()] from item), '{waiting,null}'::text[], 'what waits for a time is not due');
select later('10 minutes');
select is(pg_temp.due(), 'worker 1 60', 'once the time has come it is');
select work_cancel(item());

-- A worker lives, of another project.
select take(work_submit('analyze', 'Fix the shop', p_project => 'shop'));
select pg_temp.seen('w', 'other');
select claim();
select later('1 day');
select pg_temp.seen('w', 'other');
select is((select array[state, is_stranded::text, pg_temp.due()] from item), '{waiting,true,worker shop 1 86400}', 'work that no living worker may drive is due');
select is((select count(*) from work_gauges()), (select count(distinct (metric, labels)) from work_gauges()), 'no series is there twice');
select pg_temp.seen('s', 'shop');
select from work_sweep();
select claim(p_worker => 's');
select is(pg_temp.due(), null, 'until a worker takes it');

select * from finish();
rollback;
