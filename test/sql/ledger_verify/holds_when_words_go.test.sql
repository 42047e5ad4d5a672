-- Seals stay valid where words go and entries stay, where a recorded run grows after its end, and where an attempt follows another.
begin;
select plan(7);

set local work_ledger.now = '2026-01-01 00:00Z';
select tool('drop_table', 'unsafe', 'dangerous');
select agent('{"tools": ["drop_table", "look"], "require_approval": "dangerous"}', '{"recover": {"max_attempts": 2}}');
select submit('Tidy');
select play('[[["drop_table", {"name": "a"}]]]');
select tool_call_reject(call('t1_1'), 'Not that one');
select drive();
select give_up();
select later('1 hour');
select play('[[["look", "seen"], ["finding", "Tidied"]], ["done"]]');
select is((select format('%s %s', state, attempts) from item), 'completed 2', 'an item with a decision, in its second attempt');
select is_empty($$ select * from ledger_verify() $$, 'is as it was written');
select later('40 days');
select from retention_policy_save('30 days', p_keep => 'ledger');
select is((work_retention_run() ->> 'root_id')::uuid, item(), 'its words go, its entries stay');
select work_retention_run() from generate_series(1, 3);
select is((select format('%s/%s', input_hash, reason) from approvals), '/[erased]', 'those of the decision, too');
select is_empty($$ select * from ledger_verify() $$, 'and all of it is valid');
select is(found('approvals', $$ update approvals set decision = 'approved' $$) ~ 'not as it was sealed', true, 'what was decided is still sealed');

set constraints all deferred;
select session_import(format('{"format": "codex", "sessionId": "s", "prompt": "Fix", "exchanges": [
  {"id": "a", "text": "First", "calls": [{"id": "c", "name": "look", "input": {}, "result": "%1$s"}]}%2$s]}', repeat('line', 20000),
  case g when 2 then format(', {"id": "b", "text": "Second", "calls": [{"id": "d", "name": "look", "input": {}, "result": "%s"}]}', repeat('more', 20000)) else '' end)::json)
  from generate_series(1, 2) g;
select is_empty($$ select * from ledger_verify() $$, 'and a recorded run that has grown, with artifacts');

select * from finish();
rollback;
