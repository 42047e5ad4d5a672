-- The rows that imported turns need: work item, session, branch, faculty, configuration, compactions.

create or replace function _import_item(
    p_label text,
    p_description text,
    p_params jsonb,
    p_at timestamptz,
    p_project text default null,
    p_conversation_id text default null,
    p_of transcripts default null,
    p_is_followed boolean default false,
    p_is_by_harness boolean default false)
  returns work_items
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_submitter name := coalesce(p_of.submitted_by, session_user);
  v_is_open boolean := (p_of.id is not null or p_is_followed) and p_conversation_id is not null;
  -- A session that is open is named by what a person asks, which may come after what the program says.
  v_name text := nullif(_cap_text(case when not p_is_by_harness then p_description end, 60000), '');
  v_item work_items;
begin
  perform _import_adopt(p_label, p_conversation_id, v_submitter)
    where p_conversation_id is not null and not exists (select from work_items where external_id = 'import:' || p_label);
  insert into work_items (
    id, root_id, work_type, description, params, external_id, source, state, created_at, started_at, heartbeat_ends_at, project, submitted_by)
  select n.id, n.id, n.type, coalesce(v_name, case n.type when 'journal' then _session_unnamed(n.params) end, nullif(_cap_text(p_description, 60000), ''),
         '(The record has no prompt.)'), n.params, 'import:' || p_label, case n.type when 'journal' then 'human' else 'event' end::work_source, 'created',
         p_at, p_at, case n.type when 'journal' then coalesce(p_of.updated_at + interval '5 minutes', p_at) end,
         _project_check(coalesce(p_of.project, p_project)), v_submitter
    from (select _uuidv7() as id, case when v_is_open then 'journal' else 'import' end as type,
                 case when v_is_open
                      then jsonb_strip_nulls(jsonb_build_object('conversationId', p_conversation_id, 'directory', p_params -> 'cwd',
                                                                'isUnnamed', case when coalesce(v_name, '') !~ '\S' then true end))
                      else p_params end as params) n
  on conflict (external_id) where external_id is not null do nothing
  returning * into v_item;
  if found then
    perform _fence_create(v_item);
  end if;
  v_item := _item_locked((select id from work_items where external_id = 'import:' || p_label));
  if v_item.work_type not in ('import', 'journal') then
    raise exception using errcode = 'WL006', message = format('work item %s, which is not an import, has the external id "%s"', v_item.id, v_item.external_id);
  end if;
  if v_item.params ? 'isUnnamed' and v_name ~ '\S' and v_item.resolved_at is null and v_item.submitted_by = v_submitter then
    v_item := _session_name(v_item.id, v_name, v_item.id);
  end if;
  return v_item;
end
$$;

comment on function _import_item(text, text, jsonb, timestamptz, text, text, transcripts, boolean, boolean) is
  'The work item of a recorded session, locked: the one that it has, else the journal session of its conversation (null: there is none), else a new one, which is a journal session if the transcript p_of is kept here while it runs (null: it is read from a file), or its file is followed. p_is_by_harness: nobody typed p_description. Raises WL006.';

create or replace function _import_adopt(p_label text, p_conversation_id text, p_submitter name)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_id uuid;
begin
  perform _lock('conversations', p_conversation_id); -- a client that opens the journal session meanwhile waits, and finds it
  select w.id into v_id from work_items w
   where w.params ? 'conversationId' and w.params ->> 'conversationId' = p_conversation_id and w.work_type = 'journal'
     and w.external_id is null and w.submitted_by = p_submitter and w.erased_at is null
   order by w.created_at desc, w.id desc
   limit 1;
  if found then
    perform _item_locked(v_id);
    update work_items set external_id = 'import:' || p_label
     where id = v_id and external_id is null and erased_at is null
       and not exists (select from work_items where external_id = 'import:' || p_label);
  end if;
end
$$;

comment on function _import_adopt(text, text, name) is
  'Makes the journal session that hooks opened for a conversation the work item of its recorded session, so that both are one. Nothing happens where there is none.';

create or replace function _import_session(p_format text, p_session text, p_parent text, p_description text, p_at timestamptz)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  -- Whichever of parent and child is read first creates both.
  if p_parent is not null then
    perform _import_session(p_format, p_parent, null, null, p_at);
  end if;
  insert into sessions (label, origin, origin_session_id, is_subagent, parent_session_label, task_description, created_at, updated_at)
  values (
    concat_ws(':', p_format, p_session), p_format, p_session, p_parent is not null, p_format || ':' || p_parent,
    _one_line(p_description, 240), p_at, p_at)
  on conflict (label) do update set task_description = excluded.task_description
  where sessions.task_description is null and excluded.task_description is not null;
end
$$;

comment on function _import_session(text, text, text, text, timestamptz) is 'Makes an imported session, and that of its parent, if they do not exist.';

create or replace function _import_spawned(p_label text, p_parent_label text, p_call_id text)
  returns void
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  update sessions s set spawn_tool_call_id = k.id, parent_turn_id = k.turn_id
    from foci f join tool_calls k on k.work_item_id = f.work_item_id
   where s.label = p_label and s.spawn_tool_call_id is null and f.session_label = p_parent_label and p_call_id in (k.given_id, k.provider_id);
$$;

comment on function _import_spawned(text, text, text) is 'Links the session of a recorded subagent to the call of its parent that started it, if that call is already stored; see _import_spawns().';

create or replace function _import_focus(p_work_item_id uuid, p_label text, p_at timestamptz)
  returns foci
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_focus foci;
begin
  insert into foci (work_item_id, attempt, faculty, faculty_hash, session_label, max_tokens, created_at)
  values (p_work_item_id, 1, 'imported', _import_faculty(), p_label, 32000, p_at)
  on conflict (work_item_id, attempt) do nothing;
  select * into v_focus from foci where work_item_id = p_work_item_id and attempt = 1;
  return v_focus;
end
$$;

comment on function _import_focus(uuid, text, timestamptz) is 'The focus of an imported session; made if there is none.';

create or replace function _import_branch(p_label text, p_head turns)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_n integer := (select count(*) + 1 from sessions where parent_session_label = p_label and starts_with(label, p_label || '@'));
  v_label text;
begin
  if p_head.id is null then -- nothing was abandoned
    return;
  end if;
  -- Any session may already have this name.
  while exists (select from sessions where label = p_label || '@' || v_n) loop
    v_n := v_n + 1;
  end loop;
  v_label := p_label || '@' || v_n;
  insert into sessions (label, origin, parent_session_label, parent_turn_id, task_description, created_at, updated_at)
  select v_label, origin, p_label, p_head.id, task_description, p_head.completed_at, p_head.completed_at from sessions where label = p_label;
  perform _session_advance(v_label, p_head.id);
end
$$;

comment on function _import_branch(text, turns) is 'For a conversation that went back to an earlier turn: the abandoned branch gets its own session, LABEL@1 and so on.';

create or replace function _import_faculty()
  returns text
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_hash text := (select content_hash from faculties where name = 'imported' and project is null and is_current);
begin
  if v_hash is null then
    perform faculty_save('{"name": "imported", "engage": {"workspace": "none"}}');
    select content_hash into v_hash from faculties where name = 'imported' and project is null and is_current;
  end if;
  return v_hash;
end
$$;

comment on function _import_faculty() is 'The faculty under which imported sessions are stored; it accepts no work.';

create or replace function _import_config(p_model text, p_system text, p_tools json)
  returns text
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  -- A prompt that somebody recorded: unlike those of faculties, it may hold what the program that ran had read.
  v_system text := case when _redacts('{}') then _redacted(p_system) else p_system end;
  v_config text := '{"model":' || to_json(coalesce(p_model, 'unknown'))::text || ',"max_tokens":32000'
    || case when v_system ~ '\S' then ',"system":[' || _text_block(v_system) || ']' else '' end
    || coalesce((select ',"tools":['
                 || string_agg(
                   '{"name":' || to_json(t.name)::text || ',"description":"","input_schema":{"type":"object"}}', ',' order by t.name)
                 || ']'
                   from json_array_elements_text(p_tools) t(name)), '') || '}';
  v_hash text := _content_hash(v_config);
begin
  insert into turn_configs (content_hash, config) values (v_hash, v_config::json) on conflict do nothing;
  if found and v_system <> p_system then
    perform _redaction_note('turn_configs', '{}', p_system, v_system);
  end if;
  return v_hash;
end
$$;

comment on function _import_config(text, text, json) is 'Stores what is known of a recorded run''s requests other than their messages (model, system prompt, names of tools), and returns its hash.';

create or replace function _import_compaction(p_focus foci, p_last turns, p_summary text, p_at timestamptz)
  returns turns
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_turn turns;
  v_id uuid := _uuidv7();
  v_root uuid := (select id from turn_ancestry(p_last.id) limit 1);
begin
  insert into elisions (
    id, ordinal, work_item_id, focus_id, iteration, depth, root_turn_id, last_turn_id, first_block, last_block, last_seq, stubs,
    tokens_elided, tokens_kept, stub_tokens, summary, created_at)
  values (
    v_id, 0, p_focus.work_item_id, p_focus.id, p_last.iteration + 1, p_last.depth + 2, v_root, p_last.id, 1, 0, 0,
    ('[' || _text_block(p_summary) || ']')::json,
          coalesce(p_last.input_tokens, 0) + coalesce(p_last.cached_input_tokens, 0), 0, _tokens(char_length(p_summary), p_last.model), p_summary, p_at);
  insert into turns (parent_turn_id, fork_turn_id, depth, turn_type, work_item_id, focus_id, chain_tokens, elision_id, started_at)
  values (
    p_last.id, _fork_turn(p_last, p_focus.work_item_id), p_last.depth + 1, 'compaction', p_focus.work_item_id, p_focus.id,
    p_last.chain_tokens, v_id, p_at)
  returning * into v_turn;
  perform _turn_sizes_store(v_turn);
  insert into compactions (
    turn_id, work_item_id, compaction_type, trigger, is_applied, elision_id, summarized_through_turn_id, turns_summarized, tokens_before,
    summary_tokens, created_at)
  values (
    v_turn.id, p_focus.work_item_id, 'summary', 'context_limit', true, v_id, p_last.id, p_last.depth + 1,
    coalesce(p_last.input_tokens, 0) + coalesce(p_last.cached_input_tokens, 0), _tokens(char_length(p_summary), p_last.model), p_at);
  update turns set status = 'completed', completed_at = p_at where id = v_turn.id returning * into v_turn;
  return v_turn;
end
$$;

comment on function _import_compaction(foci, turns, text, timestamptz) is 'Stores a compaction of a recorded run, whose summary replaces everything before it, and returns its turn.';
