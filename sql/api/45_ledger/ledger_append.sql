-- The ledger of a work item: typed entries that are numbered without gaps and never change.

create or replace function ledger_append(
    p_work_item_id uuid,
    p_entry_type text,
    p_content text,
    p_data jsonb default null,
    p_lease uuid default null,
    p_idempotency_key text default null,
    p_keep text[] default null,
    p_items jsonb default null,
    p_done integer[] default null,
    p_doing integer default null)
  returns work_ledger
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  -- Nearly all entries are a few plain words. One expression finds out, since every expression is prepared again in each transaction. Such
  -- an entry is written complete; for any other, trigger complete_entry does the rest.
  v_is_plain boolean := coalesce(
    _is_plain_entry(p_entry_type, p_content, p_data, p_keep) and not _hints_at_secret(p_content) and p_idempotency_key is null
    and p_items is null and p_done is null and p_doing is null, false);
  v_keep text[] := nullif(p_keep, '{}');
  v_fence fences;
  v_entry work_ledger;
begin
  if not v_is_plain then
    if p_items is not null or p_done is not null or p_doing is not null then
      p_content := _entry_with_plan(p_entry_type, p_content, p_items, p_done, p_doing);
    end if;
    perform _ledger_entry_check(p_entry_type, p_content, p_data, v_keep);
    if p_idempotency_key is not null then
      v_entry := _ledger_appended(p_work_item_id, p_idempotency_key, p_entry_type, p_content, v_keep);
      if v_entry.id is not null then
        return v_entry;
      end if;
    end if;
    if p_data <> 'null' then
      perform _ledger_data_check(p_entry_type, p_data);
    end if;
  end if;
  v_fence := _ledger_numbers(p_work_item_id, p_lease, 1);
  insert into work_ledger (
    work_item_id, seq, id, entry_type, content, data, keep, trust, attempt, focus_id, turn_id, tool_call_id, is_auto, is_child_work,
    idempotency_key, created_at, link, project)
  select p_work_item_id, v_fence.ledger_count, e.id, p_entry_type, p_content, p_data, v_keep, e.trust, v_fence.attempt, v_fence.focus_id, e.turn_id,
         e.tool_call_id, e.is_auto, v_fence.is_child, p_idempotency_key, e.created_at,
         case when not v_is_plain then ''
              when v_fence.salt is not null then _entry_link(
                (select l.link from work_ledger l -- in this form, see _complete_entry()
                  where l.work_item_id = p_work_item_id and l.seq >= v_fence.ledger_count - 1 and l.seq < v_fence.ledger_count order by l.seq desc limit 1),
                v_fence.salt,
                row(p_work_item_id, v_fence.ledger_count, e.id, p_entry_type, p_content, null, null, null, e.trust, v_fence.attempt, v_fence.focus_id,
                    e.turn_id, e.tool_call_id, e.is_auto, v_fence.is_child, false, null, null, e.created_at, null, v_fence.project)::work_ledger) end,
         v_fence.project
    from (select _uuidv7() as id, nullif(current_setting('work_ledger.turn_id', true), '')::uuid as turn_id,
                 nullif(current_setting('work_ledger.tool_call_id', true), '')::uuid as tool_call_id,
                 coalesce(nullif(current_setting('work_ledger.is_auto', true), '')::boolean, false) as is_auto,
                 _ledger_trust_now(p_work_item_id) as trust, _now() as created_at) e
  returning * into v_entry;
  if not v_is_plain then
    if cardinality(p_done) > 0 or p_doing is not null then
      perform _plan_check(p_work_item_id, v_entry.seq, p_done || p_doing);
    end if;
    if octet_length(p_content) > 4096 then
      perform _ledger_warn(format('entry %s of work item %s', v_entry.seq, p_work_item_id), p_content);
    end if;
  end if;
  if v_fence.is_journal then
    perform _journal_alive(p_work_item_id), _journal_written(p_work_item_id);
  end if;
  return v_entry;
end
$$;

comment on function ledger_append(uuid, text, text, jsonb, uuid, text, text[], jsonb, integer[], integer) is
  'Appends an entry to a work item''s ledger and returns its row: select ledger_append(''...'', ''finding'', ''The index on orders(created_at) is never used''). p_entry_type: plan, finding, decision, step, error or note. p_content: up to 16 KiB of text. p_data: structured values, up to 64 KiB of JSON, checked against the schema of ledger_data_schema_save(), if its type has one. p_lease: required while an attempt is running. Without an attempt, the role that submitted the item may append, and so may roles that may write to all items. p_keep: for a step, at most 20 names whose newest content the agent still needs: it stays in the context when the blocks up to this step leave. A name is a path, part of a file (path:80-140, path#symbol; with 5 lines around it), a URL or an artifact handle. p_items: for a plan, its items, [{text, state?}], state open (the default), doing, done or dropped; they become the first lines of its content. p_done, p_doing: for a step, the numbers of the items now done and of the one now begun; they become the last line of its content. v_plan shows the state of each item. seq is 1, 2, 3, ... without gaps under any number of writers. Appends to one item wait for each other until the previous one is on disk. For several entries use ledger_append_batch(), which wrote seven times as many per second (batches of ten, 16 clients). With p_idempotency_key, repeating the same call returns the same entry. An entry over 4 KiB raises a warning and is counted in v_step_counts. Raises WL001, WL002, WL003 (finished), WL004 (lease lost), WL005 (driven), WL006 (key used for another entry), WL009 (10,000 entries), 42501 (not your item).';

create or replace function _ledger_numbers(p_work_item_id uuid, p_lease uuid, p_count integer)
  returns fences
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_lease uuid := coalesce(p_lease, nullif(current_setting('work_ledger.lease', true), '')::uuid);
  v_now timestamptz := _now();
  v_is_locked boolean := false;
  v_fence fences;
begin
  -- Only roles that may write to all items can write in the name of a turn, a call or the engine; others could forge it.
  if concat(current_setting('work_ledger.turn_id', true), current_setting('work_ledger.tool_call_id', true),
            current_setting('work_ledger.is_auto', true)) <> '' and not _works_for_all() then
    perform set_config('work_ledger.turn_id', '', true), set_config('work_ledger.tool_call_id', '', true), set_config('work_ledger.is_auto', '', true);
  end if;
  -- The counter, under the row lock, makes seq gapless, and the same statement checks who may write. If it updates nothing, the fence raises the reason. If
  -- the fence finds none, the item has changed in the meantime, and the statement is repeated with the lock held.
  loop
    update fences
       set ledger_count = ledger_count + p_count,
           watch_notified_at = case when watch_ends_at > v_now and _is_hint_due(watch_notified_at, v_now) then v_now else watch_notified_at end
     where work_item_id = p_work_item_id
       and not is_over
       and case when v_lease is null then focus_id is null and (submitted_by = session_user or _writes_for_all())
                else lease_hash = sha256(uuid_send(v_lease)) end
    returning * into v_fence;
    exit when found;
    assert not v_is_locked, 'the fence lets through what this update refuses';
    perform _fence(p_work_item_id, v_lease);
    v_is_locked := true;
  end loop;
  if v_fence.ledger_count > 10000 then -- separate from the next condition, which would be prepared with it
    if not coalesce(nullif(current_setting('work_ledger.is_auto', true), '')::boolean, false) then
      raise exception using
        errcode = 'WL009',
        message = format('the ledger of work item %s is full: 10000 entries', p_work_item_id),
        hint = 'Complete this work with what is done, and continue in a new work item.';
    end if;
  end if;
  if v_fence.watch_notified_at = v_now then
    perform pg_notify('work_ledger', p_work_item_id::text);
  end if;
  return v_fence;
end
$$;

comment on function _ledger_numbers(uuid, uuid, integer) is
  'Takes the next p_count numbers of a ledger for the holder of the lease (or, while no attempt is running, whoever submitted the item) and returns the item''s fence, whose ledger_count is the last of them. Tells watchers at most ten times a second, see _is_hint_due(): a watcher reads again a little after a hint. Raises WL001, WL003, WL004, WL005, WL009.';

create or replace function _is_hint_due(p_notified_at timestamptz, p_now timestamptz)
  returns boolean
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  return case
    when p_notified_at > p_now + interval '1 second' then true -- the clock was set back in the meantime
    when p_notified_at > p_now - interval '100 ms' then false
    -- PostgreSQL commits transactions that notify one after the other, each with its disk write. So within a second of the last
    -- notification only one transaction at a time notifies: on a slow disk, writers would otherwise queue for their hints.
    when p_notified_at > p_now - interval '1 second' then _lock_try('hint')
    else true end;
end
$$;

comment on function _is_hint_due(timestamptz, timestamptz) is
  'Whether an append to a watched item notifies: at most ten times a second, once a second in any case, and between those only if no other transaction is about to.';

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
  perform _check_idempotency_key(p_idempotency_key);
  -- Lock first, then search in a new statement, which also sees a duplicate that committed while this one waited.
  perform from fences where work_item_id = p_work_item_id for no key update;
  select * into v_entry from work_ledger where work_item_id = p_work_item_id and idempotency_key = p_idempotency_key;
  if found and v_entry.content <> '[erased]' and (v_entry.entry_type, v_entry.content, v_entry.keep) is distinct from (p_entry_type, p_content, p_keep)
    and (v_entry.entry_type, v_entry.content, v_entry.keep::text) is distinct from (p_entry_type, _redacted(p_content), _redacted(p_keep::text)) then
    raise exception using
      errcode = 'WL006',
      message = format('idempotency key "%s" was used for another entry: %s', p_idempotency_key, v_entry.seq),
      hint = 'A key identifies one entry; use a new key for a new entry.';
  end if;
  return v_entry;
end
$$;

comment on function _ledger_appended(uuid, text, text, text, text[]) is
  'The entry already appended with an idempotency key. Null: there is none, and none can be added before ours, since the item is locked now. Raises WL002, WL006 (key used for another entry).';
