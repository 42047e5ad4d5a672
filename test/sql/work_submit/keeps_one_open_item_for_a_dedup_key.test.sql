-- A deduplication key has one open item.
begin;
select plan(3);

create temporary table first as select * from work_submit('a', 'x', p_dedup_key => 'k');
select is((select id from work_submit('a', 'y', p_dedup_key => 'k')), (select id from first), 'a second submission returns the open item');
select from work_complete((select id from first), 'done');
create temporary table second as select * from work_submit('a', 'y', p_dedup_key => 'k');
select isnt((select id from second), (select id from first), 'after it is finished the key is free');
select is((select count(*) from work_items where dedup_key = 'k'), 2::bigint, 'the finished item and the new one are both there');

select * from finish();
rollback;
