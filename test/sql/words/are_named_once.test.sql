-- The words of sql/schema/012_words.sql, where they have to be repeated: schemas that models read, keys with sentences of their own.
begin;
select plan(8);

select throws_ok($$ insert into ledger_data_schemas (entry_type, schema) values ('thought', '{}') $$, '23514', null, 'a table takes no other type of entry');
select throws_ok($$ insert into budgets (work_item_id, resource, amount) values (gen_random_uuid(), 'patience', 1) $$, '23514', null, 'a table takes no other resource');
select throws_ok($$ select work_submit('analyze', 'Find why', p_source => 'rumour') $$, 'WL002', '"rumour" is not a source', 'an item comes from somewhere known');
select throws_ok($$ select 'rumour'::message_source $$, '23514', null, 'a message comes from somewhere known');
select lives_ok($$ select unnest(array_append(_work_sources(), 'engine'))::message_source $$, 'a message comes from where items do, or from the engine');
select is_empty(
  $$ select a.name from abilities a
      where a.input_schema::jsonb #> '{properties,entry_type,enum}' is distinct from to_jsonb(_ledger_entry_types()) and a.name in ('ledger_append', 'ledger_read') $$,
  'models are offered all types of entries');
select is(
  (select array_agg(substr(path, 8) order by path) from _faculty_keys() where path ~ '^budget\.'), (select array_agg(r order by r) from unnest(_budget_resources()) r),
  'a faculty has a budget of each resource');
select is_empty(
  $$ select c.conrelid::regclass, c.conname from pg_constraint c
      where c.contype = 'c' and c.connamespace = (select relnamespace from pg_class where oid = 'work_items'::regclass)
        and (pg_get_constraintdef(c.oid) ~ '''finding''' or pg_get_constraintdef(c.oid) ~ '''tokens''.*''children''' or pg_get_constraintdef(c.oid) ~ '''webhook''') $$,
  'no check lists the words again');

select * from finish();
rollback;
