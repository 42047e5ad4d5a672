-- A batch is appended whole, in its order, or not at all.
begin;
select plan(4);

select submit();

select is((select array_agg(seq) from ledger_append_batch(item(),
  '[{"entry_type": "plan", "content": "1. Look"}, {"entry_type": "note", "content": "n", "data": {"k": 1}}]')), array[1, 2], 'the entries of a batch are numbered in their order');
select is((select data from work_ledger where seq = 2), '{"k": 1}'::jsonb, 'the entries of a batch have their data');
select throws_ok($$ select ledger_append_batch(item(), '[{"entry_type": "note", "content": "a"}, {"entry_type": "no", "content": "b"}]') $$,
  'WL002', null, 'one bad entry refuses the whole batch');
select is((select ledger_count from item), 2, 'of a refused batch nothing is appended');

select * from finish();
rollback;
