-- A tree that is cancelled gives back the slots of all its items: what waits for them is woken.
begin;
select plan(2);

select agent('{}', '{"max_concurrent": 1}');
select faculty_save('{"name": "other", "accepts": ["part"], "max_concurrent": 1}');
create temporary table parent as select submit('Fix it') as id;
select drive();
create temporary table work as select 'child' as name, (work_submit('part', 'A part', p_parent_id => item())).id
 union all select 'next', (work_submit('analyze', 'Next')).id union all select 'next part', (work_submit('part', 'Next part')).id;
select drive(id) from work where name = 'child';
select is((select count(*) from work_items where slot_faculty is not null), 2::bigint, 'both slots are taken');
delete from graphile_worker._private_jobs;
select from work_cancel((select id from parent));
select is((select string_agg(i.name, ', ' order by i.name) from work i where exists (select from graphile_worker.jobs j where j.key like '%' || i.id || '%')), 'next, next part', 'what waits for them is woken');

select * from finish();
rollback;
