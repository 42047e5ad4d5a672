-- A finished item takes no entry.
begin;
select plan(2);

select submit();

select from work_complete(item(), 'done');
select throws_ok($$ select ledger_append(item(), 'note', 'late') $$, 'WL003', null, 'an entry of a finished item is refused');
select is((select count(*) from work_ledger where work_item_id = item()), 0::bigint, 'nothing of a refused entry is written');

select * from finish();
rollback;
