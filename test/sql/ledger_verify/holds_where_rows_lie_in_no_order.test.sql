-- A fork copies entries in the order of their numbers, whatever the order in which they lie: each is linked to the one before it.
begin;
select plan(2);

select agent('{"tools": ["look"]}');
select submit();
select play('[[["look"], ["finding", "One"], ["finding", "Two"], ["finding", "Three"]]]');
-- As a dump may be restored, or space that was freed be used again.
create temporary table entry as select * from work_ledger where work_item_id = item();
alter table work_ledger disable trigger user;
delete from work_ledger where work_item_id = item();
insert into work_ledger select * from entry order by seq desc;
set constraints all immediate;
alter table work_ledger enable always trigger refuse_change;
alter table work_ledger enable always trigger complete_entry;
set local enable_indexscan = off;
select take((work_fork((select id from turns where work_item_id = item() order by id limit 1))).id);
select is((select count(*) from work_ledger where work_item_id = item() and is_inherited), 3::bigint, 'the fork has the entries');
select is_empty($$ select place, problem from ledger_verify(item()) where work_item_id is not null $$, 'and its chain holds');

select * from finish();
rollback;
