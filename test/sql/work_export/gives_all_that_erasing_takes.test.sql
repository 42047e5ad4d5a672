-- An export holds every row that erasing takes or leaves as a tombstone, of the item and of everything below it.
begin;
select plan(7);

select agent('{"tools": ["look"], "max_result_chars": 2000}');
select submit('Task');
create temporary table child as select id from work_submit('analyze', 'Child task', p_parent_id => item());
select play(jsonb_build_array(jsonb_build_array('["look"]'::jsonb || to_jsonb(array[repeat('much ', 1000)]), '["finding", "A finding"]'::jsonb), '["done"]'::jsonb));
select from work_cancel((select id from child));
create temporary table export as select * from work_export(item());

select is_empty(
  $$ select c.name, c.row_count from work_erase(item(), p_is_dry_run => true) c
      where c.kind = 'table' and c.row_count > (select count(*) from export e where e.relation = c.name) $$,
  'no table is missing, and no row');
select results_eq($$ select "row" ->> 'description' from export where relation = 'work_items' order by 1 $$, array['Child task', 'Task'], 'children are in it');
select is((select count(*) from export where relation = 'artifacts' and "row" ->> 'content' ~ '^much much'), 1::bigint, 'large results are in it, whole');
select is((select journal_export(item()) -> 'rows' -> 'messages'), (select jsonb_agg("row") from export where relation = 'messages'), 'the journal''s export has the same rows');

-- The journal's export has the times of checkpoints from beside the rows.
select checkpoint_create(item());
create function pg_temp.exported() returns text language sql as $$ 
  select md5(string_agg("row"::text, '' order by "row" ->> 'id') || journal_export(item())::text) from work_export(item()) $$;
create temporary table here as select pg_temp.exported();
set local timezone = 'Asia/Tokyo';
set local bytea_output = escape;
set local extra_float_digits = -15;
select is(pg_temp.exported(), (select exported from here), 'every session exports the same');

-- Erasing leaves a session in which other work goes on; an export of either has it.
select set_config('test.first', item()::text, true);
select take(work_continue(item(), 'Go on'));
select play('[[["look"]]]');
select is_empty($$ select from work_erase(current_setting('test.first')::uuid, p_is_dry_run => true) where name = 'sessions' $$, 'its session goes on');
select is((select count(*) from work_export(current_setting('test.first')::uuid) where relation = 'sessions'), 1::bigint, 'and is in the export');

select * from finish();
rollback;
