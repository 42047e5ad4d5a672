begin;
select plan(2);

select submit();

select from work_complete(item(), 'done');
select throws_ok($$ select ledger_append(item(), 'note', 'late') $$, 'WL003', null, 'nothing is written after the end');
select is((select count(*) from work_ledger where work_item_id = item()), 0::bigint, 'and nothing was');

select * from finish();
rollback;
