-- A command whose entries have no room in the ledger has failed the attempt: it is not run again for them.
begin;
select plan(3);

select agent('{"mode": "external", "command": "do"}', '{"recover": {"max_attempts": 1}}');
select submit('Fix it');
select drive();
update fences set ledger_count = 9999 where work_item_id = item();
select is(hook_record(item(), lease(), (stage() ->> 'hook_run_id')::uuid, jsonb_build_object('exit_code', 0, 'stdout',
    '{"summary": "Done", "entries": [{"entry_type": "note", "content": "one"}, {"entry_type": "note", "content": "two"}]}')) ->> 'kind', 'dead',
  'the command is not run again for entries that have no room');
select matches((select state_reason from item), 'returned an entry that .*: the ledger of work item .* is full', 'the reason says what the command wanted to record');
select is((select ledger_count from item), 9999, 'of its entries all are stored, or none');

select * from finish();
rollback;
