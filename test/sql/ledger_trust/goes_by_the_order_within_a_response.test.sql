-- An entry that names a file is stale once a call behind it in the same response has changed the file, whichever of the two ended first.
begin;
select plan(3);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent('{"tools": ["read_file", "edit_file"]}');
select submit('Fix it');
select drive();
select answer('[["edit_file", {"path": "src/early.ts", "old_string": "a", "new_string": "b"}], ["finding", "src/money.ts truncates and src/early.ts does not"],
  ["edit_file", {"path": "src/money.ts", "old_string": "a", "new_string": "b"}]]');
create function pg_temp.stale() returns text language sql as $$ select _stale_file(l.work_item_id, l.content, l.created_at, l.tool_call_id) from work_ledger l $$;
-- The edits end before the entry is written.
select tool_call_settle(item(), lease(), call('t1_3'), 'Edited.');
select tool_call_settle(item(), lease(), call('t1_1'), 'Edited.');
select later('1 second'), tool_call_execute(item(), lease(), call('t1_2'));
select is((select created_at > (select max(completed_at) from tool_calls where tool_name = 'edit_file') from work_ledger), true, 'the entry was written last');
select is(pg_temp.stale(), 'src/money.ts', 'what was edited behind it in the response changed after it');
select iteration_finish(item(), lease());
select later('1 minute'), play('[[["edit_file", {"path": "src/early.ts", "old_string": "b", "new_string": "c"}]]]');
select is(pg_temp.stale(), 'src/early.ts', 'and what a later response edits, too');

select * from finish();
rollback;
