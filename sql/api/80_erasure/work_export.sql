-- Everything stored about a work item and everything below it, row by row, to be kept elsewhere before it is erased.

create or replace function work_export(p_work_item_id uuid)
  returns table (relation text, "row" jsonb)
  language plpgsql
  stable
  rows 1000
  set search_path = pg_catalog, @extschema@, pg_temp
  -- These settings make rows read the same in every session.
  set timezone = 'UTC'
  set bytea_output = hex
  set extra_float_digits = 1
as $$
declare
  v_ids uuid[] := array(select _items_below(p_work_item_id));
  v_e record;
begin
  if v_ids = '{}' then
    perform _raise_not_found('work item', p_work_item_id);
  end if;
  for v_e in
    select e.n, e.relation, e.of_item from _erasable() e
    union all
    select x.n, x.relation, x.of_item
      from (values
        (101, 'erasures', 'work_item_id = item.id'), (102, 'budgets', 'work_item_id = item.id'), (103, 'work_usage', 'work_item_id = item.id'),
        (104, 'session_history', 'session_label in (select f.session_label from foci f where f.work_item_id = item.id)'),
        (105, 'model_calls', 'turn_id in (select x.id from turns x where x.work_item_id = item.id)'),
        (106, 'awareness_digests', 'turn_id in (select x.id from turns x where x.work_item_id = item.id)'),
        (107, 'turn_sizes', 'turn_id in (select x.id from turns x where x.work_item_id = item.id)'),
        (108, 'artifacts', 'content_hash in (select u.content_hash from artifact_uses u where u.work_item_id = item.id)')) as x(n, relation, of_item)
    order by 1
  loop
    -- Partial responses are in an unlogged table, which a standby does not have.
    continue when v_e.relation = 'turn_streams' and pg_is_in_recovery();
    -- Dynamic: see _erase_count().
    return query execute format('select %L::text, to_jsonb(t) from unnest($1) as item(id), lateral (select * from %I t where %s) t',
      v_e.relation, v_e.relation, v_e.of_item) using v_ids, 'all';
  end loop;
end
$$;

comment on function work_export(uuid) is
  'All rows of a work item and of everything below it, each as JSON with the name of its table: copy (select relation, "row" from work_export(''…'')) to …. Artifacts that it uses are with them. journal_export() has the same as one document. Raises WL001.';
