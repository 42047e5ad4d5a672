begin;
select plan(4);

create temporary table item as select * from work_submit('analyze', 'Find why the nightly import is slow');

select is((select seq from ledger_append((select id from item), 'plan', '1. Look')), 1, 'the first entry is 1');
select is((select seq from ledger_append((select id from item), 'finding', 'The index is never used')), 2, 'the second is 2');
select is((select ledger_count from work_items where id = (select id from item)), 2, 'the item counts them');
select results_eq($$ select seq, entry_type::text, content, attempt from ledger_read((select id from item)) $$,
  $$ values (1, 'plan', '1. Look', 0), (2, 'finding', 'The index is never used', 0) $$, 'both are there, written before any attempt');

select * from finish();
rollback;
