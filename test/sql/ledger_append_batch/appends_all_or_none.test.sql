begin;
select plan(4);

select submit();

select is((select array_agg(seq) from ledger_append_batch(item(),
  '[{"entry_type": "plan", "content": "1. Look"}, {"entry_type": "note", "content": "n", "data": {"k": 1}}]')), array[1, 2], 'in order');
select is((select data from work_ledger where seq = 2), '{"k": 1}'::jsonb, 'with their data');
select throws_ok($$ select ledger_append_batch(item(), '[{"entry_type": "note", "content": "a"}, {"entry_type": "no", "content": "b"}]') $$,
  'WL002', null, 'one bad entry refuses all');
select is((select ledger_count from work_items where id = item()), 2, 'none of them was appended');

select * from finish();
rollback;
