-- Work that another program drives and journals: an editor, an interactive session.

create or replace function journal_session_create(p_conversation_id text, p_original_prompt text, p_params jsonb default '{}', p_id uuid default null)
  returns work_items
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_id uuid := coalesce(p_id, _uuidv7());
  v_item work_items;
begin
  if coalesce(p_conversation_id, '') !~ '\S' or coalesce(p_original_prompt, '') !~ '\S' or octet_length(p_original_prompt) > 65536 then
    perform _raise_invalid('a journal session needs a conversation and a prompt of at most 64 KiB');
  end if;
  if jsonb_typeof(coalesce(p_params, '{}')) <> 'object' then
    perform _raise_invalid('params must be a JSON object');
  end if;
  perform _check_key('a conversation', p_conversation_id);
  insert into work_items (id, root_id, work_type, description, params, source, state, started_at)
  values (v_id, v_id, 'journal', p_original_prompt, coalesce(p_params, '{}') || jsonb_build_object('conversationId', p_conversation_id), 'human', 'created', _now())
  on conflict (id) do nothing
  returning * into v_item;
  if v_item.id is null then
    select * into v_item from work_items where id = v_id;
  end if;
  return v_item;
end
$$;

comment on function journal_session_create(text, text, jsonb, uuid) is
  'A work item that another program drives and journals (an editor, an interactive session): no worker takes it up. p_id: the same call repeated makes one. Ended by work_complete(), held by journal_session_status(). Raises WL002.';

create or replace function journal_session_active(p_conversation_id text)
  returns work_items
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select w from work_items w
   where w.params ? 'conversationId' and w.params ->> 'conversationId' = p_conversation_id and w.resolved_at is null
   order by w.created_at desc
   limit 1;
$$;

comment on function journal_session_active(text) is 'The newest session of a conversation that is not over; null where there is none.';

create or replace function journal_session_open(p_conversation_id text, p_original_prompt text)
  returns work_items
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items;
begin
  perform pg_advisory_xact_lock(hashtextextended('conversation ' || p_conversation_id, 0));
  v_item := journal_session_active(p_conversation_id);
  return case when v_item.id is null then journal_session_create(p_conversation_id, p_original_prompt) else v_item end;
end
$$;

comment on function journal_session_open(text, text) is
  'The newest session of a conversation that is not over, or a new one; programs that ask at the same moment get the same. Raises WL002.';

create or replace function journal_session_status(p_work_item_id uuid, p_status text)
  returns work_items
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items := _open_item(p_work_item_id);
begin
  if p_status = 'crashed' then
    perform _raise_invalid('crashed is not set: a heartbeat that stops says so');
  elsif p_status is null or p_status not in ('active', 'paused', 'completed') then
    perform _raise_invalid(format('"%s" is not the status of a session', p_status), 'One of: active, paused, completed.');
  elsif v_item.work_type <> 'journal' then
    perform _raise_invalid(format('work item %s is driven by Work Ledger', v_item.id), 'work_pause(), work_resume() and work_complete() are for it.');
  end if;
  update work_items
     set state = case p_status when 'active' then 'created' else p_status end,
         started_at = _now(),
         resolved_at = case when p_status = 'completed' then _now() end,
         outcome_data = case when p_status = 'completed' then '{"summary": "The session was completed."}'::jsonb end
   where id = v_item.id
  returning * into v_item;
  return v_item;
end
$$;

comment on function journal_session_status(uuid, text) is 'Sets a journal session active, paused or completed. Raises WL001, WL002, WL003 (it is over).';
