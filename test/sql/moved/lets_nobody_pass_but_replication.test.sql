-- What is never changed is not changed by who sets session_replication_role, either: only where the server itself applies a subscription do its rows pass.
begin;
select plan(5);

select agent('{"tools": ["look"]}'), submit();
select play('[[["look", "what it saw"], ["note", "Seen"]]]');

select ok(not _is_replicating(), 'a session does not replicate');
set local session_replication_role = replica;
select ok(not _is_replicating(), 'not because it says so');
select throws_ok($$ update tool_calls set result = '"forged"' where completed_at is not null $$, 'WL007', null, 'a settled call stays');
select throws_ok($$ insert into work_ledger (work_item_id, seq, entry_type, content) values (item(), 9, 'note', 'Out of turn') $$, 'WL002', null, 'a number that was not given out is refused');
select throws_ok($$ update work_ledger set content = 'forged' $$, 'WL007', null, 'and an entry stays');

select * from finish();
rollback;
