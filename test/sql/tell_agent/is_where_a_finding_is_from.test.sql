-- What an agent records in the block in which another told it something is known from another agent.
begin;
select plan(3);

select agent('{"ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
create temporary table work as select n, (work_submit('analyze', 'Part ' || n)).id from generate_series(1, 2) n;
select take((select id from work where n = 2));
select from tell_agent((select id from work where n = 1), item()::text, 'toCents() truncates');
select play('[[["finding", "It truncates"]], [["finding", "It does so for a reason"], ["step", "Understood"]], [["finding", "Something else"]]]');
select is((select trust from work_ledger where content = 'It truncates'), 'other_agent', 'in the next response');
select is((select trust from work_ledger where content = 'It does so for a reason'), 'other_agent', 'and in those of its block');
select play('[[["step", "And on"]], [["finding", "A last thing"]]]');
select is((select trust from work_ledger where content = 'A last thing'), 'user', 'not in a later one');

select * from finish();
rollback;
