-- Several entries at once, all or none.

create or replace function ledger_append_batch(
    p_work_item_id uuid,
    p_entries jsonb,
    p_lease uuid default null,
    p_idempotency_key text default null)
  returns setof work_ledger
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
  set plan_cache_mode = force_generic_plan -- without a key part of the last query falls away, for which it would be planned at each call
as $$
declare
  v_given record;
  v_contents text[] := '{}';
  v_known integer[] := '{}'; -- of each entry, in their order: its number, if it was appended before
  v_seqs integer[];
  v_count integer;
  v_fence fences;
  v_trust text;
begin
  if jsonb_typeof(p_entries) is distinct from 'array' then
    perform _raise_invalid('entries must be an array of {entry_type, content, data, keep, items, done, doing}');
  end if;
  for v_given in
    select value ->> 'entry_type' as entry_type, value -> 'data' as data,
           case when not value ?| '{items,done,doing}' then value ->> 'content' else _entry_with_plan(
             value ->> 'entry_type', value ->> 'content', nullif(value -> 'items', 'null'), _plan_numbers(value -> 'done'), _plan_number(value -> 'doing'))
           end as content,
           case when value ? 'keep' then _names(value -> 'keep') end as keep, n
      from jsonb_array_elements(p_entries) with ordinality as e(value, n)
  loop
    v_contents := v_contents || v_given.content;
    v_known := v_known || case when p_idempotency_key is not null then
      (_ledger_appended(p_work_item_id, p_idempotency_key || '/' || v_given.n, v_given.entry_type, v_given.content, v_given.keep)).seq end;
    if _is_plain_entry(v_given.entry_type, v_given.content, v_given.data, v_given.keep) is not true then
      perform _ledger_entry_check(v_given.entry_type, v_given.content, v_given.data, v_given.keep);
      if v_given.data <> 'null' and v_known[v_given.n] is null then
        perform _ledger_data_check(v_given.entry_type, v_given.data);
      end if;
      if octet_length(v_given.content) > 4096 and v_known[v_given.n] is null then
        perform _ledger_warn(format('entry %s of the batch for work item %s', v_given.n, p_work_item_id), v_given.content);
      end if;
    end if;
  end loop;
  v_count := cardinality(array_positions(v_known, null));
  if v_count > 0 then
    v_fence := _ledger_numbers(p_work_item_id, p_lease, v_count);
    v_trust := _ledger_trust_now(p_work_item_id);
  end if;
  v_seqs := array(
    select coalesce(s.seq, v_fence.ledger_count - v_count + count(*) filter (where s.seq is null) over (order by s.n))
      from unnest(v_known) with ordinality as s(seq, n)
     order by s.n);
  return query
    with made as (
      insert into work_ledger (
        work_item_id, seq, entry_type, content, data, keep, attempt, focus_id, turn_id, tool_call_id, is_auto, is_child_work, trust,
        idempotency_key, created_at, project)
      select p_work_item_id, v_seqs[e.n], value ->> 'entry_type', v_contents[e.n], value -> 'data',
             case when value ? 'keep' then _names(value -> 'keep') end, v_fence.attempt, v_fence.focus_id,
             nullif(current_setting('work_ledger.turn_id', true), '')::uuid, nullif(current_setting('work_ledger.tool_call_id', true), '')::uuid,
             coalesce(nullif(current_setting('work_ledger.is_auto', true), '')::boolean, false), v_fence.is_child,
             v_trust, p_idempotency_key || '/' || e.n, _now(), v_fence.project
        from jsonb_array_elements(p_entries) with ordinality as e(value, n)
       where v_known[e.n] is null
       order by e.n -- each is linked to the one before it
      returning *)
    select r.*
      from (select m.* from made m
            union all
            select l.* from work_ledger l where p_idempotency_key is not null and l.work_item_id = p_work_item_id and l.seq = any (v_known)) r
     order by array_position(v_seqs, r.seq);
  perform _plan_check(p_work_item_id, v_seqs[e.n::integer], _plan_numbers(value -> 'done') || _plan_number(value -> 'doing'))
     from jsonb_array_elements(p_entries) with ordinality as e(value, n)
    where (value ? 'done' or value ? 'doing') and v_known[e.n] is null;
  if v_fence.is_journal then
    perform _journal_written(p_work_item_id);
  end if;
end
$$;

comment on function ledger_append_batch(uuid, jsonb, uuid, text) is
  'Appends several entries, all or none: p_entries = [{entry_type, content, data, keep, items, done, doing}, ...]. Returns their rows in order. Otherwise like ledger_append(), whose errors it raises.';

create or replace function _names(p_names jsonb)
  returns text[]
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if jsonb_typeof(p_names) = 'null' then
    return null;
  elsif jsonb_typeof(p_names) <> 'array' or exists (select from jsonb_array_elements(p_names) n where jsonb_typeof(n) <> 'string') then
    perform _raise_invalid('keep must be a list of paths, URLs or artifact handles');
  end if;
  return (select array_agg(n.name order by n.i) from jsonb_array_elements_text(p_names) with ordinality as n(name, i));
end
$$;

comment on function _names(jsonb) is 'A JSON list of strings as an array; null for null or an empty list. Raises WL002.';
