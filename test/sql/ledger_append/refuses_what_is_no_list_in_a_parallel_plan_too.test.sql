-- A parallel plan evaluates subqueries before what stands left of them: what is no list is refused in the same words there.
begin;
select plan(3);

create function pg_temp.tell(p_input jsonb) returns text language sql as $$
  select set_config('work_ledger.work_item_id', item()::text, true);
  select _ability_ledger_append(p_input);
$$;

select submit();
select set_config(case when current_setting('server_version_num')::integer < 160000 then 'force_parallel_mode' else 'debug_parallel_query' end, 'on', true);
select throws_ok(format('select from ledger_append(%L, %L, %L, p_items => %L)', item(), 'plan', 'x', '{"text": "a"}'), 'WL002',
  'items must be a list of 1 to 100 {"text": ..., "state": ...}', 'items');
select throws_ok(format($$ select pg_temp.tell(%L) $$, '{"entry_type": "step", "content": "x", "done": {"1": 1}}'), 'WL002',
  'done must be a list of numbers of the plan''s items', 'numbers of items');
select throws_ok(format('select _names(%L)', '{"a.ts": 1}'), 'WL002', 'keep must be a list of paths, URLs or artifact handles', 'names');

select * from finish();
rollback;
