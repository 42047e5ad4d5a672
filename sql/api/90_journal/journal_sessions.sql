-- Journal sessions: work that another program, such as an editor or an interactive session, drives and journals.

create or replace function journal_session_create(p_conversation_id text, p_original_prompt text, p_params jsonb default '{}', p_id uuid default null,
                                                  p_project text default null)
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
  insert into work_items (id, root_id, work_type, description, params, source, state, started_at, heartbeat_ends_at, project)
  values (
    v_id, v_id, 'journal', p_original_prompt, coalesce(p_params, '{}') || jsonb_build_object('conversationId', p_conversation_id),
    'human', 'created', _now(), _now() + interval '5 minutes', _project_check(p_project))
  on conflict (id) do nothing
  returning * into v_item;
  if v_item.id is null then
    select * into v_item from work_items where id = v_id;
  else
    perform _fence_create(v_item);
    return v_item;
  end if;
  perform _check_submitter(v_id);
  return v_item;
end
$$;

comment on function journal_session_create(text, text, jsonb, uuid, text) is
  'Creates a work item that another program (an editor, an interactive session) drives and journals, and returns its row; no worker claims it. It counts as crashed after five minutes without an entry or journal_heartbeat(). p_id: repeating the same call creates one only. p_project: as in work_submit(). End it with work_complete(), pause it with journal_session_status(). Raises WL002, 42501 (p_id: someone else''s).';

create or replace function journal_session_active(p_conversation_id text)
  returns work_items
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select w from work_items w
   where w.params ? 'conversationId' and w.params ->> 'conversationId' = p_conversation_id and w.resolved_at is null
   order by w.submitted_by = session_user desc, w.created_at desc
   limit 1;
$$;

comment on function journal_session_active(text) is 'The newest unfinished session of a conversation, your own before those of others; null: there is none.';

create or replace function journal_session_open(p_conversation_id text, p_original_prompt text default null, p_directory text default null,
                                                p_project text default null)
  returns work_items
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items;
begin
  perform _lock('conversations', coalesce(p_conversation_id, ''));
  v_item := journal_session_active(p_conversation_id);
  -- Programs choose the names of conversations: if a different role already uses this name, that session is not opened, and a new one is created.
  if v_item.id is null or not (v_item.submitted_by = session_user or _writes_for_all()) then
    return journal_session_create(
      p_conversation_id, coalesce(p_original_prompt, _session_unnamed(jsonb_build_object('directory', p_directory, 'conversationId', p_conversation_id))),
      jsonb_strip_nulls(jsonb_build_object('directory', p_directory, 'isUnnamed', case when p_original_prompt is null then true end)),
      p_project => p_project);
  end if;
  perform _journal_alive(v_item.id);
  return v_item;
end
$$;

comment on function journal_session_open(text, text, text, text) is
  'Returns the newest unfinished session of a conversation, or a new one. Programs that call it at the same moment get the same session. p_conversation_id: the client''s own id for the session, so that two sessions in one directory stay separate. p_original_prompt: what a new one is about (default: the first prompt recorded by journal_session_prompt()). p_directory: where it works. p_project: as in work_submit(). If someone else opened a session under this name and you may not write to it, it is left alone and you get your own. Counts as a heartbeat. Raises WL002.';

create or replace function journal_session_prompt(p_work_item_id uuid, p_prompt text, p_id uuid default null)
  returns work_items
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items;
begin
  if coalesce(p_prompt, '') !~ '\S' then
    perform _raise_invalid('a prompt needs a text');
  end if;
  v_item := journal_session_status(p_work_item_id, 'active'); -- another client of this conversation may have ended it meanwhile
  p_id := coalesce(p_id, _uuidv7());
  perform journal_log(v_item.id, 'user_feedback', jsonb_build_object('message', p_prompt), 'high', p_id);
  if v_item.params ? 'isUnnamed' then
    v_item := _session_name(v_item.id, _cap_text(p_prompt, 65536), p_id);
  end if;
  return v_item;
end
$$;

comment on function journal_session_prompt(uuid, text, uuid) is
  'Records what a person asked in a journal session, sets the session active, and returns its row. The first prompt of a session that was opened without one becomes its description. p_id: repeating the same call records it once. Raises WL001, WL002, WL003 (it is over), WL006 (p_id used for an entry of another item).';

create or replace function _session_name(p_work_item_id uuid, p_description text, p_named_by uuid)
  returns work_items
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items;
begin
  update work_items w
     set description = coalesce(p_description, _session_unnamed(w.params)),
         params = w.params - 'isUnnamed' - 'namedBy'
                  || case when p_named_by is null then '{"isUnnamed": true}' else jsonb_build_object('namedBy', p_named_by) end
   where id = p_work_item_id
  returning * into v_item;
  delete from search_entries where source = 'work' and id = v_item.id;
  perform _search_add('work', v_item.id, v_item.id, v_item.description, v_item.created_at);
  return v_item;
end
$$;

comment on function _session_name(uuid, text, uuid) is
  'Gives a journal session that is not over, and whose fence is locked, a description: that of the prompt with this id, or (nulls) none of its own.';

create or replace function _session_unnamed(p_params jsonb)
  returns text
  language sql
  immutable
  parallel safe
  return 'An interactive session in ' || coalesce(p_params ->> 'directory', p_params ->> 'conversationId', 'another program');

comment on function _session_unnamed(jsonb) is 'The description of a session in which nobody has asked anything yet.';

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
    perform _raise_invalid('crashed cannot be set: it is derived from a heartbeat that stopped');
  elsif p_status is null or p_status not in ('active', 'paused', 'completed') then
    perform _raise_invalid(format('"%s" is not the status of a session', p_status), 'One of: active, paused, completed.');
  elsif v_item.work_type <> 'journal' or v_item.state not in ('created', 'paused') then
    perform _raise_invalid(format('work item %s is driven by Work Ledger', v_item.id), 'Use work_pause(), work_resume() or work_complete().');
  elsif p_status = 'completed' and v_item.result_schema is not null then
    perform _raise_invalid(format('work item %s must end with a result', v_item.id), 'Use work_complete(), with p_result.');
  end if;
  v_item.state := case p_status when 'active' then 'created' else p_status end;
  v_item.started_at := _now();
  v_item.heartbeat_ends_at := case when p_status = 'active' then greatest(v_item.heartbeat_ends_at, _now() + interval '5 minutes') end;
  v_item.outcome_data := case when p_status = 'completed' then '{"summary": "The session was completed."}'::jsonb end;
  v_item := _work_move(v_item, 'journal_session_status');
  perform _enqueue_all(_to_wake(v_item)) where v_item.resolved_at is not null;
  return v_item;
end
$$;

comment on function journal_session_status(uuid, text) is 'Sets a journal session active, paused or completed, and returns its row. Raises WL001, WL002, WL003 (it is over).';

create or replace function journal_heartbeat(p_work_item_id uuid, p_seconds integer default 300)
  returns timestamptz
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items := _open_item(p_work_item_id);
begin
  if v_item.work_type <> 'journal' then
    perform _raise_invalid(format('work item %s is driven by Work Ledger', v_item.id), 'Its worker renews a lease instead.');
  elsif p_seconds is null or p_seconds not between 1 and 86400 then
    perform _raise_invalid(format('a heartbeat must be for 1 to 86400 seconds, not %s', p_seconds));
  end if;
  return _journal_alive(v_item.id, p_seconds);
end
$$;

comment on function journal_heartbeat(uuid, integer) is
  'Reports that the program that drives a journal session is alive, for the next p_seconds (300). A session without a heartbeat or entry for longer than that counts as crashed: digests leave it out, and work_sessions_resumable() lists it. A later heartbeat or entry makes it active again. Returns the time until which the heartbeat is valid. Raises WL001, WL002, WL003.';

create or replace function _journal_alive(p_work_item_id uuid, p_seconds integer default 300)
  returns timestamptz
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_until timestamptz := _now() + make_interval(secs => p_seconds);
begin
  -- Not for every entry of a busy session.
  if exists (select from work_items
              where id = p_work_item_id and work_type = 'journal' and state = 'created' and heartbeat_ends_at < v_until - interval '10 seconds') then
    perform _item_locked(p_work_item_id);
    update work_items set heartbeat_ends_at = greatest(heartbeat_ends_at, v_until) where id = p_work_item_id and state = 'created';
  end if;
  return (select heartbeat_ends_at from work_items where id = p_work_item_id);
end
$$;

comment on function _journal_alive(uuid, integer) is 'Records a heartbeat of a journal session; does nothing for other items. Returns until when the heartbeat is valid.';

create or replace function work_sessions_resumable(p_conversation_id text default null, p_target_tokens integer default 4000, p_limit integer default 20)
  returns table (
    id uuid, conversation_id text, original_prompt text, status text, created_at timestamptz, updated_at timestamptz,
    completed_at timestamptz, token_estimate integer, entry_count integer, packet jsonb)
  language plpgsql
  stable
  rows 20
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
begin
  if p_target_tokens is null or p_target_tokens < 500 or p_limit < 0 then
    perform _raise_invalid('p_target_tokens must be at least 500, and p_limit not negative');
  end if;
  for id in
    select w.id
      from work_items w
     where (w.state in ('paused', 'dead') or (w.state = 'created' and w.work_type = 'journal' and w.heartbeat_ends_at <= _now()))
       and (p_conversation_id is null or coalesce(w.params ->> 'conversationId', w.root_id::text) = p_conversation_id)
     order by w.created_at desc, w.id desc
     limit p_limit
  loop
    select s.conversation_id, s.original_prompt, s.status, s.created_at, s.updated_at, s.completed_at, s.token_estimate, s.entry_count
      into conversation_id, original_prompt, status, created_at, updated_at, completed_at, token_estimate, entry_count
      from work_sessions s where s.id = work_sessions_resumable.id;
    begin
      packet := resumption_context(id, p_target_tokens);
    exception when sqlstate 'WL002' then
      packet := resumption_context(id, 1000000); -- the essentials need more than that; the session is listed all the same
    end;
    return next;
  end loop;
end
$$;

comment on function work_sessions_resumable(text, integer, integer) is
  'Sessions that can be resumed, newest first: paused or crashed (their program or all attempts), of one conversation or (null) of all. packet: resumption_context() of p_target_tokens, or more if the essentials do not fit. To resume: journal_session_status(id, ''active'') for a journal session, work_resume(id) for a paused work item, journal_resume(id, conversation) in another conversation. Raises WL002.';
