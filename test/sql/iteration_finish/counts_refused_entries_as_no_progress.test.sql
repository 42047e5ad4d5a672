-- An agent that appends the same entry again and again, and is refused each time, makes no progress and is paused.
begin;
select plan(4);

select agent('{"tools": ["look"], "stall_limit": 4, "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select submit('Fix it');
select play('[[["look"], {"type": "tool_use", "id": "a", "name": "ledger_append", "input": {"entry_type": "thought", "content": "Hm"}}]]') from generate_series(1, 3);
select is((select count(*) from tool_calls where tool_name = 'ledger_append' and status <> 'completed'), 3::bigint, 'the entries were refused');
select is((select round_count from foci), 3, 'each of these iterations was the same');
select play('[[["look"], {"type": "tool_use", "id": "a", "name": "ledger_append", "input": {"entry_type": "thought", "content": "Hm"}}]]');
select matches((select state_reason from item), '^stalled: 4 iterations', 'the work stops for a person');

select submit('Another');
select play('[[["look"], ["note", "Hm"]]]') from generate_series(1, 5);
select isnt((select state from item), 'paused', 'an entry that is recorded is progress');

select * from finish();
rollback;
