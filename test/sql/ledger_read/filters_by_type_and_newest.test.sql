-- A ledger is read whole, by type, or its newest entries, always in order.
begin;
select plan(6);

select submit();

select from ledger_append_batch(item(), '[
  {"entry_type": "plan", "content": "a"}, {"entry_type": "finding", "content": "b"},
  {"entry_type": "finding", "content": "c"}, {"entry_type": "step", "content": "d"}]');
select is((select array_agg(content) from ledger_read(item())), array['a', 'b', 'c', 'd'], 'all entries are read in order');
select is((select array_agg(content) from ledger_read(item(), 'finding')), array['b', 'c'], 'entries are read by their type');
select is((select array_agg(content) from ledger_read(item(), p_last_n => 2)), array['c', 'd'], 'the newest entries are read, still in order');
select throws_ok($$ select ledger_read(item(), p_last_n => -1) $$, 'WL002', null, 'a negative number is an error');
select throws_ok($$ select ledger_read(item(), 'thought') $$, 'WL002', null, 'an unknown type is an error');
select throws_ok($$ select ledger_read('00000000-0000-7000-8000-000000000000') $$, 'WL001', null, 'an unknown item is an error');

select * from finish();
rollback;
