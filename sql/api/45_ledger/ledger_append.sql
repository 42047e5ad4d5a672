-- The ledger of a work item: typed entries, numbered without gaps, that are never changed.

create or replace function ledger_append(
    p_work_item_id uuid,
    p_entry_type text,
    p_content text,
    p_data jsonb default null,
    p_lease uuid default null,
    p_idempotency_key text default null,
    p_keep text[] default null)
  returns work_ledger
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_keep text[] := nullif(p_keep, '{}');
  v_fence fences;
  v_entry work_ledger;
begin
  -- Nearly all entries are words alone: seen here they need no call, which would cost a tenth of an append.
  if (p_entry_type = any (_ledger_entry_types()) and p_content ~ '\S' and octet_length(p_content) <= 4096 and p_data is null and v_keep is null)
     is not true then
    perform _ledger_entry_check(p_entry_type, p_content, p_data, v_keep);
  end if;
  if p_idempotency_key is not null then
    v_entry := _ledger_appended(p_work_item_id, p_idempotency_key, p_entry_type, p_content, v_keep);
    if v_entry.id is not null then
      return v_entry;
    end if;
  end if;
  if p_data <> 'null' then
    perform _ledger_data_check(p_entry_type, p_data);
  end if;
  v_fence := _ledger_numbers(p_work_item_id, p_lease, 1);
  insert into work_ledger (
    work_item_id, seq, entry_type, content, data, keep, attempt, focus_id, turn_id, tool_call_id, is_auto, is_child_work, trust,
    idempotency_key, created_at)
  values (
    p_work_item_id, v_fence.ledger_count, p_entry_type, p_content, p_data, v_keep, v_fence.attempt, v_fence.focus_id,
    nullif(current_setting('work_ledger.turn_id', true), '')::uuid,
    nullif(current_setting('work_ledger.tool_call_id', true), '')::uuid,
    coalesce(nullif(current_setting('work_ledger.is_auto', true), '')::boolean, false), v_fence.is_child,
    _ledger_trust_now(p_work_item_id), p_idempotency_key, _now())
  returning * into v_entry;
  if octet_length(p_content) > 4096 then
    perform _ledger_warn(format('entry %s of work item %s', v_entry.seq, p_work_item_id), p_content);
  end if;
  if v_fence.is_journal then
    perform _journal_written(p_work_item_id);
  end if;
  return v_entry;
end
$$;

comment on function ledger_append(uuid, text, text, jsonb, uuid, text, text[]) is
  'Appends an entry to a work item''s ledger and returns its row: select ledger_append(''...'', ''finding'', ''The index on orders(created_at) is never used''). p_entry_type: plan, finding, decision, step, error or note. p_content: up to 16 KiB of text. p_data: structured values, up to 64 KiB of JSON, checked against the schema of ledger_data_schema_save(), if its type has one. p_lease: required while an attempt is under way; without one, who submitted the item may append, and who may write to all items. p_keep: of a step, at most 20 paths, URLs or artifact handles whose newest content the agent still needs verbatim: it stays in the context when the blocks up to this step leave. seq is 1, 2, 3, ... without gaps under any number of writers. With p_idempotency_key the same call repeated returns the same entry. An entry over 4 KiB raises a warning and is counted in v_step_counts. Raises WL001, WL002, WL003 (finished), WL004 (lease lost), WL005 (driven), WL006 (key used for another entry), WL009 (10,000 entries), 42501 (not your item).';

create or replace function _ledger_numbers(p_work_item_id uuid, p_lease uuid, p_count integer)
  returns fences
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_lease uuid := coalesce(p_lease, nullif(current_setting('work_ledger.lease', true), '')::uuid);
  v_now timestamptz := _now();
  v_fence fences;
begin
  -- In the name of a turn, a call or the engine writes only who may write to all items; others would forge it.
  if concat(current_setting('work_ledger.turn_id', true), current_setting('work_ledger.tool_call_id', true),
            current_setting('work_ledger.is_auto', true)) <> '' and not _works_for_all() then
    perform set_config('work_ledger.turn_id', '', true), set_config('work_ledger.tool_call_id', '', true), set_config('work_ledger.is_auto', '', true);
  end if;
  -- The counter, under the row lock, makes seq gapless, and the same statement checks who may write. If it updates nothing, the
  -- fence raises the reason; if the fence finds none, the item has changed meanwhile, and the loop tries again with its lock held.
  loop
    update fences
       set ledger_count = ledger_count + p_count,
           watch_notified_at = case when watch_ends_at > v_now and _is_hint_due(watch_notified_at, v_now) then v_now else watch_notified_at end
     where work_item_id = p_work_item_id
       and not is_over
       and case when v_lease is null then focus_id is null and (submitted_by = session_user or _works_for_all())
                else lease_hash = sha256(uuid_send(v_lease)) end
    returning * into v_fence;
    exit when found;
    perform _fence(p_work_item_id, v_lease);
  end loop;
  if v_fence.ledger_count > 10000 and not coalesce(nullif(current_setting('work_ledger.is_auto', true), '')::boolean, false) then
    raise exception using
      errcode = 'WL009',
      message = format('the ledger of work item %s is full: 10000 entries', p_work_item_id),
      hint = 'End this work with what is done, and continue in a new work item.';
  end if;
  if v_fence.watch_notified_at = v_now then
    perform pg_notify('work_ledger', p_work_item_id::text);
  end if;
  return v_fence;
end
$$;

comment on function _ledger_numbers(uuid, uuid, integer) is
  'Takes the next p_count numbers of a ledger for the holder of the lease (or who submitted the item, while no attempt is under way) and returns the item''s fence, whose ledger_count is the last of them. Tells watchers at most ten times a second, see _is_hint_due(): a watcher reads again a little after a hint. Raises WL001, WL003, WL004, WL005, WL009.';

create or replace function _is_hint_due(p_notified_at timestamptz, p_now timestamptz)
  returns boolean
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  return case
    when p_notified_at > p_now - interval '100 ms' then false
    -- PostgreSQL commits transactions that notify one behind the other, each with its write to disk. So within a second only one at
    -- a time does: on a slow disk writers would otherwise stand in line for their hints.
    when p_notified_at > p_now - interval '1 second' then pg_try_advisory_xact_lock(hashtextextended('hint ' || _ledger_schema(), 0))
    else true end;
end
$$;

comment on function _is_hint_due(timestamptz, timestamptz) is
  'Whether an append to a watched item notifies: at most ten times a second, once a second in any case, and between those only if no other transaction is about to.';

create or replace function _ledger_warn(p_entry text, p_content text)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  raise warning '% has % bytes: every agent that reads this ledger pays for it', p_entry, octet_length(p_content)
    using hint = 'Say what matters in a few sentences; put structured values into data, and long text into an artifact.';
end
$$;

comment on function _ledger_warn(text, text) is 'Warns of an entry that is over 4 KiB. p_entry: which.';

create or replace function _ledger_entry_check(p_entry_type text, p_content text, p_data jsonb, p_keep text[])
  returns void
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if p_entry_type = any (_ledger_entry_types()) is not true then
    perform _check_word('an entry type', p_entry_type, _ledger_entry_types());
  end if;
  if coalesce(p_content, '') !~ '\S' then
    perform _raise_invalid('a ledger entry needs content');
  end if;
  if octet_length(p_content) > 16384 then
    perform _raise_invalid(format('a ledger entry can have at most 16 KiB, not %s bytes', octet_length(p_content)),
      'Record what matters in a few sentences, or in several entries.');
  end if;
  if octet_length(p_data::text) > 65536 then
    perform _raise_invalid(format('the data of a ledger entry can have at most 64 KiB, not %s bytes', octet_length(p_data::text)));
  end if;
  if p_keep is not null then
    if p_entry_type <> 'step' then
      perform _raise_invalid(format('only a step can have keep, not a %s', p_entry_type));
    elsif array_ndims(p_keep) > 1 or cardinality(p_keep) > 20
      or exists (select from unnest(p_keep) n where coalesce(n, '') !~ '\S' or octet_length(n) > 2000) then
      perform _raise_invalid('keep must be a list of at most 20 paths, URLs or artifact handles',
        'Name what you will change or quote next, most needed first.');
    end if;
  end if;
end
$$;

comment on function _ledger_entry_check(text, text, jsonb, text[]) is 'Raises WL002 for arguments that cannot be a ledger entry.';

create or replace function _ledger_data_check(p_entry_type text, p_data jsonb)
  returns void
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select _schema_check(format('the data of a %s', p_entry_type), s.schema::jsonb, p_data) from ledger_data_schemas s where s.entry_type = p_entry_type;
$$;

comment on function _ledger_data_check(text, jsonb) is 'Checks the data of an entry against the schema of its type, if it has one. Raises WL002.';

create or replace function _ledger_appended(
    p_work_item_id uuid,
    p_idempotency_key text,
    p_entry_type text,
    p_content text,
    p_keep text[])
  returns work_ledger
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_entry work_ledger;
begin
  perform _check_key('an idempotency key', p_idempotency_key);
  if p_idempotency_key = '' then
    perform _raise_invalid('an empty string is not an idempotency key');
  end if;
  -- Lock first, then search in a new statement, which also sees a duplicate that committed while this one waited.
  perform from fences where work_item_id = p_work_item_id for no key update;
  select * into v_entry from work_ledger where work_item_id = p_work_item_id and idempotency_key = p_idempotency_key;
  if found and (v_entry.entry_type, v_entry.content, v_entry.keep) is distinct from (p_entry_type, p_content, p_keep)
    and (v_entry.entry_type, v_entry.content, v_entry.keep::text) is distinct from (p_entry_type, _redacted(p_content), _redacted(p_keep::text)) then
    raise exception using
      errcode = 'WL006',
      message = format('idempotency key "%s" was used for another entry: %s', p_idempotency_key, v_entry.seq),
      hint = 'A key stands for one entry; use a new key for a new one.';
  end if;
  return v_entry;
end
$$;

comment on function _ledger_appended(uuid, text, text, text, text[]) is
  'The entry already appended with an idempotency key. Null: there is none, and none can be added before ours, since the item is locked now. Raises WL002, WL006 (key used for another entry).';

create or replace function ledger_append_batch(
    p_work_item_id uuid,
    p_entries jsonb,
    p_lease uuid default null,
    p_idempotency_key text default null)
  returns setof work_ledger
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_given record;
  v_seqs integer[] := '{}'; -- of each entry, in their order; null: it is not appended yet
  v_count integer;
  v_fence fences;
  v_trust text;
begin
  if jsonb_typeof(p_entries) is distinct from 'array' then
    perform _raise_invalid('entries must be an array of {entry_type, content, data, keep}');
  end if;
  for v_given in
    select value ->> 'entry_type' as entry_type, value ->> 'content' as content, value -> 'data' as data,
           case when value ? 'keep' then _names(value -> 'keep') end as keep, n
      from jsonb_array_elements(p_entries) with ordinality as e(value, n)
  loop
    perform _ledger_entry_check(v_given.entry_type, v_given.content, v_given.data, v_given.keep);
    v_seqs := v_seqs || case when p_idempotency_key is not null then
      (_ledger_appended(p_work_item_id, p_idempotency_key || '/' || v_given.n, v_given.entry_type, v_given.content, v_given.keep)).seq end;
    if v_given.data <> 'null' and v_seqs[v_given.n] is null then
      perform _ledger_data_check(v_given.entry_type, v_given.data);
    end if;
    if octet_length(v_given.content) > 4096 and v_seqs[v_given.n] is null then
      perform _ledger_warn(format('entry %s of the batch for work item %s', v_given.n, p_work_item_id), v_given.content);
    end if;
  end loop;
  v_count := cardinality(array_positions(v_seqs, null));
  if v_count > 0 then
    v_fence := _ledger_numbers(p_work_item_id, p_lease, v_count);
    v_trust := _ledger_trust_now(p_work_item_id);
    v_seqs := array(
      select coalesce(s.seq, v_fence.ledger_count - v_count + count(*) filter (where s.seq is null) over (order by s.n))
        from unnest(v_seqs) with ordinality as s(seq, n)
       order by s.n);
    insert into work_ledger (
      work_item_id, seq, entry_type, content, data, keep, attempt, focus_id, turn_id, tool_call_id, is_auto, is_child_work, trust,
      idempotency_key, created_at)
    select p_work_item_id, v_seqs[e.n], value ->> 'entry_type', value ->> 'content', value -> 'data',
           case when value ? 'keep' then _names(value -> 'keep') end, v_fence.attempt, v_fence.focus_id,
           nullif(current_setting('work_ledger.turn_id', true), '')::uuid,
           nullif(current_setting('work_ledger.tool_call_id', true), '')::uuid,
           coalesce(nullif(current_setting('work_ledger.is_auto', true), '')::boolean, false), v_fence.is_child,
           v_trust, p_idempotency_key || '/' || e.n, _now()
      from jsonb_array_elements(p_entries) with ordinality as e(value, n)
     where v_seqs[e.n] > v_fence.ledger_count - v_count;
    if v_fence.is_journal then
      perform _journal_written(p_work_item_id);
    end if;
  end if;
  return query
    select l.* from unnest(v_seqs) with ordinality as s(seq, n) join work_ledger l on l.work_item_id = p_work_item_id and l.seq = s.seq order by s.n;
end
$$;

comment on function ledger_append_batch(uuid, jsonb, uuid, text) is
  'Appends several entries, all or none: p_entries = [{entry_type, content, data, keep}, ...]. Returns their rows in order. Otherwise like ledger_append(), whose errors it raises.';

create or replace function ledger_data_schema_save(p_entry_type text, p_schema json)
  returns text
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  p_schema := _storable(p_schema);
  perform _check_word('an entry type', p_entry_type, _ledger_entry_types());
  if p_schema is null then
    delete from ledger_data_schemas where entry_type = p_entry_type;
  elsif json_typeof(p_schema) <> 'object' or (p_schema ->> 'type') is distinct from 'object'
        or coalesce(json_typeof(p_schema -> 'required'), 'array') <> 'array'
        or coalesce(json_typeof(p_schema -> 'properties'), 'object') <> 'object' then
    perform _raise_invalid(
      'the schema of entries'' data must be a JSON Schema with "type": "object"', 'Its "properties" must be an object, its "required" a list.');
  else
    insert into ledger_data_schemas (entry_type, schema) values (p_entry_type, p_schema)
    on conflict (entry_type) do update set schema = excluded.schema, updated_at = _now();
  end if;
  return p_entry_type;
end
$$;

comment on function ledger_data_schema_save(text, json) is
  'Sets the schema for the data of an entry type, a JSON Schema of type object; null: no schema. Returns the entry type. From then on ledger_append() raises WL002 for data that does not fit. Checked are required keys, types and enums of the top level and additionalProperties = false; with a JavaScript engine the whole schema (see json_schema_errors()). Raises WL002.';

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
