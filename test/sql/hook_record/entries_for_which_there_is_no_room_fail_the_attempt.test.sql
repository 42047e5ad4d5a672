begin;
select plan(3);

select from faculty_save('{"name": "worker", "accepts": ["analyze"], "engage": {"mode": "external", "command": "do"}, "recover": {"max_attempts": 1}}');
create temporary table item as select * from work_submit('analyze', 'Fix it');
create temporary table held as select (focus_claim(id, 'w') ->> 'lease')::uuid as lease from item;
create temporary table stage as select iteration_begin(id, lease) as stage from item, held;
update work_items set ledger_count = 9999 where id = (select id from item);
select is(hook_record(id, lease, (stage ->> 'hook_run_id')::uuid, jsonb_build_object('exit_code', 0, 'stdout',
    '{"summary": "Done", "entries": [{"entry_type": "note", "content": "one"}, {"entry_type": "note", "content": "two"}]}')) ->> 'kind', 'dead',
  'the command is not run again for it') from item, held, stage;
select matches((select state_reason from work_items where id = (select id from item)), 'wanted to record what .*: the ledger of work item .* is full', 'the reason is told');
select is((select ledger_count from work_items where id = (select id from item)), 9999, 'and of its entries all are stored, or none');
select * from finish();
rollback;
