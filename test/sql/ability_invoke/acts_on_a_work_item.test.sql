-- A program reads and writes the ledger of a work item, delegates from it and completes it by calling the abilities that agents call.
begin;
select plan(6);

select submit();

select is(ability_invoke('ledger_append', '{"entry_type": "finding", "content": "It is blue"}', item()), '{"seq": 1, "entry_type": "finding"}', 'ledger_append answers with the entry''s number and type');
select is(ability_invoke('ledger_read', '{}', item()), '[{"seq": 1, "entry_type": "finding", "content": "It is blue"}]', 'ledger_read answers with data');
create temporary table child as select ability_invoke('spawn_child_work', '{"work_type": "b", "description": "y"}', item()) #>> '{}' as id;
select is((select parent_id from work_items where id = (select id::uuid from child)), item(), 'spawn_child_work makes a child of the item');
select is(ability_invoke('work_complete', '{"summary": "done"}', item()), '{"state": "completed"}', 'work_complete ends the item');
select throws_ok($$ select ability_invoke('ledger_append', '{"entry_type": "note", "content": "late"}', item()) $$, 'WL003', null, 'errors are those of the ability');
select is(current_setting('work_ledger.work_item_id', true), '', 'no setting of the call stays behind in the session');

select * from finish();
rollback;
