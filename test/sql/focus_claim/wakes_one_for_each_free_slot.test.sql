-- Two slots that are given back at once may have woken the same item: whoever takes one wakes the next for the other.
begin;
select plan(4);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent('{}', '{"max_concurrent": 2}');
create temporary table work as select n as name, w.id from unnest('{first,second,third,fourth,fifth}'::text[]) with ordinality as u(n, i), work_submit('analyze', n, p_priority => -i::integer) w;
create function pg_temp.id(p_name text) returns uuid language sql as $$ select id from work where name = p_name $$;
create function pg_temp.woken() returns text[] language sql as $$
  select array_agg(i.name order by i.name) from work i where exists (select from graphile_worker.jobs j where j.key like '%' || i.id || '%')
$$;

select focus_claim(pg_temp.id('first'), 'w'), focus_claim(pg_temp.id('second'), 'w');
delete from graphile_worker._private_jobs;
-- As two transactions do that run at the same time: neither sees the job of the other.
select from work_cancel(pg_temp.id('first'));
select from work_cancel(pg_temp.id('second'));
select is(pg_temp.woken(), '{third}', 'two slots that are given back wake one item');
select focus_claim(pg_temp.id('third'), 'w');
select is(pg_temp.woken(), '{fourth,third}', 'the one that takes its slot wakes the next for the other slot');
delete from graphile_worker._private_jobs;
select focus_claim(pg_temp.id('fourth'), 'w');
select is(pg_temp.woken(), null, 'the one that takes the last slot wakes nobody');

select from work_cancel(pg_temp.id('fourth'));
select from work_cancel(pg_temp.id('fifth'));
insert into work select 'sixth', id from work_submit('analyze', 'sixth');
delete from graphile_worker._private_jobs;
select focus_claim(pg_temp.id('fifth'), 'w');
select is(pg_temp.woken(), '{sixth}', 'an item that was woken and cancelled before it took its slot wakes the next');

select * from finish();
rollback;
