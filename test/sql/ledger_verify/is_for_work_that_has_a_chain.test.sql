-- The chain is a setting; work that was submitted without it says so, and work that has it keeps it.
begin;
select plan(7);

select submit('Chained');
select ledger_append(item(), 'note', 'First');
create temporary table chained as select item() as id;
select is((ledger_chain_save(false)).is_on, false, 'it can be turned off');
select agent('{"tools": ["look"]}');
select submit('Not chained');
select play('[[["look"], ["note", "First"]], ["done"]]');
select is((select array_agg(link) from work_ledger where work_item_id = item()), '{null}', 'then entries have no link');
select is_empty('select from seals', 'and turns no seal');
select results_eq('select place, problem from ledger_verify(item())', $$ values ('item', 'has no chain: nothing shows whether it was changed') $$, 'which is said');
select is_empty('select from ledger_head(item())', 'there is no head to keep');
select ledger_append((select id from chained), 'note', 'Second');
select is_empty('select from ledger_verify((select id from chained))', 'what has a chain keeps it');
select throws_ok('select ledger_verify(gen_random_uuid())', 'WL001', null, 'work that is not there is not verified');

select * from finish();
rollback;
