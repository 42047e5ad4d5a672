begin;
select plan(6);

select submit();

select from ledger_append(item(), 'note', 'x');
select throws_ok($$ update work_ledger set content = 'y' $$, 'WL007', null, 'no update');
select throws_ok($$ delete from work_ledger $$, 'WL007', null, 'no delete');
select throws_ok($$ truncate work_ledger $$, 'WL007', null, 'no truncate');
select throws_ok($$ delete from work_items $$, 'WL007', null, 'no work item leaves its ledger behind');
set local session_replication_role = replica;
select throws_ok($$ delete from work_ledger $$, 'WL007', null, 'not even as a replica');
set local session_replication_role = origin;
select is((select content from work_ledger), 'x', 'the entry is still there');

select * from finish();
rollback;
