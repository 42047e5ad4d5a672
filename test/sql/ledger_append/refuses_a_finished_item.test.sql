begin;
select plan(2);

create temporary table item as select * from work_submit('analyze', 'Find why the nightly import is slow');

select from work_complete((select id from item), 'done');
select throws_ok($$ select ledger_append((select id from item), 'note', 'late') $$, 'WL003', null, 'nothing is written after the end');
select is((select count(*) from work_ledger where work_item_id = (select id from item)), 0::bigint, 'and nothing was');

select * from finish();
rollback;
