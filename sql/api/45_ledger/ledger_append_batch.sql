-- Appends several entries at once: all or none.

create or replace function ledger_append_batch(
    p_work_item_id uuid,
    p_entries jsonb,
    p_lease uuid default null,
    p_idempotency_key text default null)
  returns setof work_ledger
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
  set plan_cache_mode = force_generic_plan -- without a key, part of the last query is not needed, and a custom plan would be made at each call
as $$
declare
  v_is_plain boolean;
  v_contents text[];
  v_known integer[]; -- for each entry, in order: its number if it was appended before
  v_seqs integer[];
  v_count integer;
  v_fence fences;
  v_made work_ledger[];
begin
  if jsonb_typeof(p_entries) is distinct from 'array' then
    perform _raise_invalid('entries must be an array of {entry_type, content, data, keep, items, done, doing}');
  end if;
  perform _check_idempotency_key(p_idempotency_key);
  -- In nearly all batches each entry is a few plain words. One query finds out, and they are written complete, as ledger_append() writes one.
  select coalesce(array_agg(value ->> 'content' order by n), '{}'), coalesce(array_agg(null::integer), '{}'),
         (p_idempotency_key is null and bool_and((
           _is_plain_entry(value ->> 'entry_type', value ->> 'content', value -> 'data', null) and not _hints_at_secret(value ->> 'content')
           and not value ?| '{keep,items,done,doing}') is true)) is true
    into v_contents, v_known, v_is_plain
    from jsonb_array_elements(p_entries) with ordinality as e(value, n);
  if not v_is_plain then
    select g.contents, g.known into v_contents, v_known from _ledger_given(p_work_item_id, p_entries, p_idempotency_key) g;
  end if;
  v_count := cardinality(array_positions(v_known, null));
  if v_count > 0 then
    v_fence := _ledger_numbers(p_work_item_id, p_lease, v_count);
  end if;
  v_seqs := array(
    select coalesce(s.seq, v_fence.ledger_count - v_count + count(*) filter (where s.seq is null) over (order by s.n))
      from unnest(v_known) with ordinality as s(seq, n)
     order by s.n);
  v_made := array(
    select row(p_work_item_id, v_seqs[e.n], _uuidv7(), value ->> 'entry_type', v_contents[e.n], value -> 'data',
               case when value ? 'keep' then _names(value -> 'keep') end, null, c.trust, v_fence.attempt, v_fence.focus_id, c.turn_id, c.tool_call_id,
               c.is_auto, v_fence.is_child, false, p_idempotency_key || '/' || e.n, null, c.created_at, '', v_fence.project)::work_ledger
      from jsonb_array_elements(p_entries) with ordinality as e(value, n)
     cross join (select nullif(current_setting('work_ledger.turn_id', true), '')::uuid as turn_id,
                        nullif(current_setting('work_ledger.tool_call_id', true), '')::uuid as tool_call_id,
                        coalesce(nullif(current_setting('work_ledger.is_auto', true), '')::boolean, false) as is_auto,
                        _ledger_trust_now(p_work_item_id) as trust, _now() as created_at offset 0) c -- once, not for each entry
     where v_known[e.n] is null
     order by e.n);
  if v_is_plain then
    v_made := _ledger_linked(v_made, v_fence.salt);
  end if;
  return query
    with made as (
      insert into work_ledger
      select m.* from unnest(v_made) m order by m.seq -- each entry is linked to the previous one
      returning *)
    select r.*
      from (select m.* from made m
            union all
            select l.* from work_ledger l where p_idempotency_key is not null and l.work_item_id = p_work_item_id and l.seq = any (v_known)) r
     order by array_position(v_seqs, r.seq);
  if not v_is_plain then
    perform _plan_check(p_work_item_id, v_seqs[e.n::integer], _plan_numbers(value -> 'done') || _plan_number(value -> 'doing'))
       from jsonb_array_elements(p_entries) with ordinality as e(value, n)
      where (value ? 'done' or value ? 'doing') and v_known[e.n] is null;
  end if;
  if v_fence.is_journal then
    perform _journal_alive(p_work_item_id), _journal_written(p_work_item_id);
  end if;
end
$$;

comment on function ledger_append_batch(uuid, jsonb, uuid, text) is
  'Appends several entries, all or none: p_entries = [{entry_type, content, data, keep, items, done, doing}, ...]. Returns their rows in order. Otherwise it works like ledger_append() and raises the same errors.';

create or replace function _ledger_given(p_work_item_id uuid, p_entries jsonb, p_idempotency_key text, out contents text[], out known integer[])
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_given record;
begin
  contents := '{}';
  known := '{}';
  for v_given in
    select value ->> 'entry_type' as entry_type, value -> 'data' as data,
           case when not value ?| '{items,done,doing}' then value ->> 'content' else _entry_with_plan(
             value ->> 'entry_type', value ->> 'content', nullif(value -> 'items', 'null'), _plan_numbers(value -> 'done'), _plan_number(value -> 'doing'))
           end as content,
           case when value ? 'keep' then _names(value -> 'keep') end as keep, n
      from jsonb_array_elements(p_entries) with ordinality as e(value, n)
  loop
    contents := contents || v_given.content;
    known := known || case when p_idempotency_key is not null then
      (_ledger_appended(p_work_item_id, p_idempotency_key || '/' || v_given.n, v_given.entry_type, v_given.content, v_given.keep)).seq end;
    if _is_plain_entry(v_given.entry_type, v_given.content, v_given.data, v_given.keep) is not true then
      perform _ledger_entry_check(v_given.entry_type, v_given.content, v_given.data, v_given.keep);
      if v_given.data <> 'null' and known[v_given.n] is null then
        perform _ledger_data_check(v_given.entry_type, v_given.data);
      end if;
      if octet_length(v_given.content) > 4096 and known[v_given.n] is null then
        perform _ledger_warn(format('entry %s of the batch for work item %s', v_given.n, p_work_item_id), v_given.content);
      end if;
    end if;
  end loop;
end
$$;

comment on function _ledger_given(uuid, jsonb, text) is
  'For each entry of ledger_append_batch(), in order: its content, and its number if it was appended before. Raises what ledger_append() raises for an invalid entry.';

create or replace function _ledger_linked(p_entries work_ledger[], p_salt uuid)
  returns work_ledger[]
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_entry work_ledger := p_entries[1];
  -- In this form, see _complete_entry().
  v_link bytea := (
    select l.link from work_ledger l
     where l.work_item_id = v_entry.work_item_id and l.seq >= v_entry.seq - 1 and l.seq < v_entry.seq order by l.seq desc limit 1);
  v_linked work_ledger[] := '{}';
begin
  foreach v_entry in array p_entries loop
    v_link := case when p_salt is not null then _entry_link(v_link, p_salt, v_entry) end;
    v_entry.link := v_link;
    v_linked := v_linked || v_entry;
  end loop;
  return v_linked;
end
$$;

comment on function _ledger_linked(work_ledger[], uuid) is
  'Entries that follow each other, each with its link to the one before it; p_salt: that of the chain; null: their item has none.';

create or replace function _names(p_names jsonb)
  returns text[]
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if jsonb_typeof(p_names) = 'null' then
    return null;
  elsif jsonb_typeof(p_names) <> 'array'
    or exists (select from jsonb_array_elements(case jsonb_typeof(p_names) when 'array' then p_names end) n where jsonb_typeof(n) <> 'string') then
    perform _raise_invalid('keep must be a list of paths, URLs or artifact handles');
  end if;
  return (select array_agg(n.name order by n.i) from jsonb_array_elements_text(p_names) with ordinality as n(name, i));
end
$$;

comment on function _names(jsonb) is 'A JSON list of strings as an array; null for null or an empty list. Raises WL002.';
