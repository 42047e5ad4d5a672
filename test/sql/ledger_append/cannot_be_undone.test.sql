-- What is in the ledger stays there, whoever tries to take it out.
begin;
select plan(6);

select submit();

select from ledger_append(item(), 'note', 'x');
select throws_ok($$ update work_ledger set content = 'y' $$, 'WL007', null, 'an entry is not updated');
select throws_ok($$ delete from work_ledger $$, 'WL007', null, 'an entry is not deleted');
select throws_ok($$ truncate work_ledger $$, 'WL007', null, 'the ledger is not truncated');
select throws_ok($$ delete from work_items $$, 'WL007', null, 'a work item is not deleted from under its ledger');
set local session_replication_role = replica;
select throws_ok($$ delete from work_ledger $$, 'WL007', null, 'an entry is not deleted by a replica');
set local session_replication_role = origin;
select is((select content from work_ledger), 'x', 'the entry is still there');

select * from finish();
rollback;
