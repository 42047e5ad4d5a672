-- The entries of an item are numbered from one, without gaps.
begin;
select plan(4);

select submit();

select is((select seq from ledger_append(item(), 'plan', '1. Look')), 1, 'the first entry is 1');
select is((select seq from ledger_append(item(), 'finding', 'The index is never used')), 2, 'the second is 2');
select is((select ledger_count from item), 2, 'the item counts them');
select results_eq($$ select seq, entry_type::text, content, attempt from ledger_read(item()) $$,
  $$ values (1, 'plan', '1. Look', 0), (2, 'finding', 'The index is never used', 0) $$, 'entries before any attempt belong to attempt 0');

select * from finish();
rollback;
