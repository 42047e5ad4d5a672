-- The entries of an item are counted in its fence, and read as if work_items had the column.
begin;
select plan(3);

select submit();
select from ledger_append(item(), 'note', 'one'), ledger_append_batch(item(), '[{"entry_type": "note", "content": "two"}, {"entry_type": "note", "content": "three"}]');
select is((select w.ledger_count from work_items w where w.id = item()), 3, 'as a column, behind the name of the table');
select is((select ledger_count(w) from work_items w where w.id = item()), 3, 'as a function');
select is(ledger_count(null), null, 'of no item there is none');

select * from finish();
rollback;
