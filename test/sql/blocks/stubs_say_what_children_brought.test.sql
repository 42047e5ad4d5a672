-- The result of a child that nobody awaited comes as a message, and stays in the stub when its block leaves.
begin;
select plan(2);

select agent('{"tools": ["look"], "elide_budget": 0, "keep_auto": 0, "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
create temporary table parent as select submit('Fix it') as id;
select play('[[["look"]]]');
create temporary table child as select (work_submit('analyze', 'A part of it', p_parent_id => item())).id;
select play('[["The index is cold."]]', (select id from child));
select play('[[["look"]]]');
select alike(told(3), '%Child work % is completed.%The index is cold.%', 'the parent is told of its child');
select play('[[["look"], ["step", "Looked"]], [["look"]]]');
select alike(stub(5, 1), '%you were told: [engine] Child work % is completed.%The index is cold.%', 'the stub of its block says it');

select * from finish();
rollback;
