-- An iteration that kills its worker three times ends the item.
begin;
select plan(3);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent();
select submit();
select claim();

select later('1 minute'), claim() from generate_series(1, 3);
select is((select state from item), 'dead', 'an item whose iteration killed its worker three times is dead');
select alike((select state_reason from item), '%died 3 times in iteration 1%', 'the reason has the number of deaths and the iteration');
select is((select outcome from foci), 'crashed', 'the focus ended with a crash');

select * from finish();
rollback;
