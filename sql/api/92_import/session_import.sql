-- Imports recorded runs of other agents as sessions like our own: a finished work item, its focus, its chain of turns. Nothing is stored twice: if a file has
-- grown, only what is new is added; a session that begins with a copy of another shares its turns; going back in a conversation creates a branch.

create or replace function session_import(p_run json)
  returns jsonb
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  return _session_import(_storable(p_run));
exception when data_exception or integrity_constraint_violation or program_limit_exceeded then
  -- Other programs wrote the run, so any part of it may have any value.
  raise exception using errcode = 'WL002', message = 'the recorded run cannot be stored: ' || sqlerrm;
end
$$;

comment on function session_import(json) is
  'Stores a recorded run: {format, sessionId, parentSessionId, prompt, isPromptByHarness, promptParts: [{text, isByHarness, images: [{media_type, data}]}], task, system, model, tools: [name], cwd, project, spawnedBy, exchanges: [{id, responseId, after, afterResponse, at, model, text, thinking, calls: [{id, name, input, result, isError, images, spawns}], records: [{id, text, thoughts, calls, after}], results: [{id, result, isError, images}], usage, said, saidParts, followUp, isFollowUpByHarness, followUpParts, compactSummary, lints}], first, firstAfter, firstAfterResponse, isPart, transcript: {projectKey, sessionId, subpath}, isFollowed, isLive, raw: [{line, reason, content}]}, as "work-ledger import" reads it from files, whole or in parts (first: the number of the first exchange in this part). The same run again adds nothing, a longer one only what is new; exchanges whose id another session of the same submitter already has are shared with it. You cannot add to a session that someone else imported. A session whose journal is kept by hooks (its conversation is sessionId) stays that item. transcript: where its record is kept here, see transcript_append(): the item is that of whoever began it, and a session''s stays open, as a journal session; isFollowed: its file is read as it grows, see followed_file_read(): likewise. isLive: its program runs, as with journal_heartbeat(); a followed one that does not is paused. The session can be forked and read like any other. If no exchange has an at (when it began), its rows have the time of the import, params says isUntimed, and no digest tells of it as recent. Nor does one tell of a subagent (parentSessionId; params say isSubagent), which is part of its session. Returns {work_item_id, session, turns, calls}: the last two are the numbers added. A session that was erased stays so. Raises WL002, WL003 (erased), WL006 (its external id is another item''s), 42501 (imported by somebody else; a transcript counts as whose it is, not as that of the worker that reads it).';

create or replace function session_import(p_format text, p_content text)
  returns jsonb
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_runs jsonb := recorded_runs_parse(p_content);
begin
  if p_format <> v_runs #>> '{0,format}' then
    perform _raise_invalid(format('the content is of format %s, not %s', v_runs #>> '{0,format}', p_format));
  end if;
  return (select jsonb_agg(session_import((jsonb_build_object('sessionId', i.made) || r.value)::json) order by r.n)
            from jsonb_array_elements(v_runs) with ordinality as r(value, n)
            -- Not every format names its sessions.
            cross join lateral (select left(_content_hash(concat(r.value ->> 'prompt', r.value #> '{exchanges,0}')), 12) as made) i);
end
$$;

comment on function session_import(text, text) is
  'Stores the recorded runs in the content of a file, like "work-ledger import": select session_import(''claude-code'', pg_read_file(''/tmp/session.jsonl'')). p_format: claude-code, codex, copilot, pi, mini-swe-agent, swe-agent, gemini-cli or atif; null: detected. Returns a list of results of session_import(json), the session first, then its subagents. Needs "work-ledger install --javascript". Raises 0A000 without it, WL002, WL003, WL006, 42501.';

create or replace function _session_import(p_run json)
  returns jsonb
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_run record;
  v_label text;
  v_at timestamptz;
  v_of transcripts;
  v_item work_items;
  v_focus foci;
  v_head turns;
  v_end record;
begin
  -- All keys at once: every access to a json document parses all of it.
  select * into v_run
    from json_to_record(p_run) as r(
      format text, "sessionId" text, "parentSessionId" text, "spawnedBy" text, task text, system text, model text, tools json,
      cwd text, file text, project text, prompt text, "isPromptByHarness" boolean, "promptParts" json, exchanges json, first integer,
      "firstAfter" text, "firstAfterResponse" text, "isPart" boolean, outcome text, raw json, transcript json, "isLive" boolean, "isFollowed" boolean);
  if coalesce(v_run."sessionId", '') !~ '\S' or coalesce(v_run.format, '') !~ '\S' or json_typeof(v_run.exchanges) is distinct from 'array' then
    perform _raise_invalid('a recorded run needs format, sessionId and exchanges');
  end if;
  v_label := concat_ws(':', v_run.format, v_run."sessionId");
  v_at := coalesce(_recorded_time(v_run.exchanges #>> '{0,at}'),
    (select min(_recorded_time(e ->> 'at')) from json_array_elements(v_run.exchanges) e));
  v_of := _import_transcript(v_run.transcript);
  perform _transcript_refuse(t.project_key, t.session_id) from _transcripts_gone(v_run.format, v_run."sessionId", v_run."parentSessionId") t;
  v_item := _import_item(
    v_label, coalesce(v_run.task, case when coalesce(v_run.first, 0) = 0 then v_run.prompt end), jsonb_strip_nulls(jsonb_build_object(
      'conversationId', v_label, 'format', v_run.format, 'cwd', v_run.cwd, 'file', v_run.file, 'isUntimed', case when v_at is null then true end,
      'isSubagent', case when v_run."parentSessionId" is not null then true end)), coalesce(v_at, _now()), v_run.project,
    case when v_run."parentSessionId" is null then v_run."sessionId" end, v_of, coalesce(v_run."isFollowed", false),
    v_run.task is null and coalesce(v_run."isPromptByHarness", false));
  v_at := coalesce(v_at, _now());
  perform _import_check(v_of, v_item.id), _refuse_erased(v_item.id);
  -- Nor may a subagent be put below another role's session.
  perform _import_check(v_of, w.id) from work_items w where w.external_id = 'import:' || v_run.format || ':' || v_run."parentSessionId";
  perform _import_session(v_run.format, v_run."sessionId", v_run."parentSessionId",
    case when not v_item.params ? 'isUnnamed' then v_item.description end, v_at);
  perform _import_spawned(v_label, concat_ws(':', v_run.format, v_run."parentSessionId"), v_run."spawnedBy");
  v_focus := _import_focus(v_item.id, v_label, v_at);
  select t.* into v_head from sessions s join turns t on t.id = s.head_turn_id where s.label = v_label;
  perform _import_check(v_of, v_head.work_item_id) where v_head.work_item_id <> v_item.id;
  select * into v_end from _import_exchanges(v_run, v_focus, v_head, v_at);
  perform _import_records(v_label, v_run.raw);
  if (v_end.parent).id is not null
    and (v_end.turns_added > 0 or v_head.id is null or (v_focus.iteration = 0 and (v_end.parent).depth > v_head.depth)) then
    perform _session_advance(v_label, (v_end.parent).id);
  end if;
  if v_end.shared_turn_id is not null and v_focus.iteration = 0 then
    update work_items set fork_turn_id = v_end.shared_turn_id where id = v_item.id;
    update sessions
       set parent_session_label = _session_of(v_end.shared_turn_id), parent_turn_id = v_end.shared_turn_id
     where label = v_label and not is_subagent;
  end if;
  update foci
     set iteration = v_end.last_iteration, outcome = 'completed', ended_at = greatest(ended_at, (v_end.parent).completed_at, v_end.last_at)
   where id = v_focus.id;
  if v_item.work_type = 'journal' then
    -- It continues until its program ends it. Its journal is written without a lease, so there is no current focus.
    update work_items set attempts = 1 where id = v_item.id and attempts <> 1;
  elsif v_item.resolved_at is null then
    v_item.focus_id := v_focus.id;
    v_item.attempts := 1;
    v_item.state := 'completed';
    v_item.resolved_at := coalesce((v_end.parent).completed_at, v_end.last_at);
    v_item.outcome_data := jsonb_build_object('summary', coalesce(v_run.outcome, 'imported'));
    perform _work_move(v_item, '_session_import');
  else
    update work_items set focus_id = v_focus.id, attempts = 1 where id = v_item.id;
  end if;
  perform _turns_seal(v_item.id, v_end.is_filled);
  -- A subagent inside its session's transcript is not what that transcript is of.
  perform _import_kept(v_of, v_item, v_run."isLive", v_run."isFollowed") where v_of.id is null or v_of.subpath <> '' or v_run."parentSessionId" is null;
  return jsonb_build_object('work_item_id', v_item.id, 'session', v_label, 'turns', v_end.turns_added, 'calls', v_end.calls_added);
end
$$;

comment on function _session_import(json) is 'session_import() without the conversion of errors to WL002.';

create or replace function _import_check(p_of transcripts, p_work_item_id uuid)
  returns void
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_submitter name := (select w.submitted_by from work_items w where w.id = p_work_item_id);
begin
  perform _check_submitter(p_work_item_id);
  -- A worker reads everyone's transcripts, and may add for each owner what that owner may add.
  if p_of.submitted_by <> v_submitter and not exists (
    select from pg_roles r where r.rolname = p_of.submitted_by and has_function_privilege(r.oid, '_works_for_all()', 'execute')) then
    raise exception using
      errcode = 'insufficient_privilege',
      message = format('work item %s was submitted by %s, the transcript by %s', p_work_item_id, v_submitter, p_of.submitted_by),
      hint = 'You cannot add to a session that someone else imported.';
  end if;
end
$$;

comment on function _import_check(transcripts, uuid) is
  'Refuses to add to a work item what whoever is logged in may not, or whoever began the transcript that is read (null: none is). Raises WL001, 42501.';

create or replace function _import_records(p_label text, p_raw json)
  returns void
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  insert into session_records (session_label, line, ordinal, reason, content)
  select p_label, r.line,
         case r.line when 0 then hashtext(r.content) else row_number() over (partition by r.line order by r.ordinality) end,
         r.reason, r.content
    from rows from (json_to_recordset(p_raw) as (line integer, reason text, content text)) with ordinality as r
  on conflict do nothing;
$$;

comment on function _import_records(text, json) is 'Keeps the records of a recorded session that nobody reads, as they are in its file.';

create or replace function _recorded_time(p_at text)
  returns timestamptz
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
  set timezone = 'UTC' -- transcripts tell times of UTC
as $$
begin
  return case when p_at::timestamptz between '2000-01-01 00:00Z' and '2100-01-01 00:00Z' then p_at::timestamptz end;
exception when data_exception then
  return null;
end
$$;

comment on function _recorded_time(text) is 'A recorded time; null if it is not plausible (before 2000 or after 2100).';

create or replace function _import_transcript(p_key json)
  returns transcripts
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_of transcripts;
begin
  if p_key is null then
    return null;
  end if;
  select t.* into v_of from transcripts t
   where t.session_id = p_key ->> 'sessionId' and t.project_key = p_key ->> 'projectKey' and t.subpath = coalesce(p_key ->> 'subpath', '');
  if not found then
    perform _raise_invalid(format('there is no transcript of session %s', _one_line(coalesce(p_key ->> 'sessionId', 'null'), 100)));
  end if;
  perform _transcript_check(v_of);
  perform _transcript_refuse(v_of.project_key, v_of.session_id) where v_of.deleted_at is not null;
  return v_of;
end
$$;

comment on function _import_transcript(json) is 'The transcript that a recorded run was read from, {projectKey, sessionId, subpath}; null: from a file. Raises WL002, WL003 (it is erased), 42501.';

create or replace function _transcripts_gone(p_format text, p_session_id text, p_parent_session_id text)
  returns setof transcripts
  language sql
  stable
  rows 1
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select t.*
    from transcripts t
   where p_format = 'claude-code' and t.session_id = coalesce(p_parent_session_id, p_session_id) and t.deleted_at is not null and t.submitted_by = session_user
     and t.subpath in ('', 'subagents/agent-' || substr(p_session_id, char_length(p_parent_session_id) + 2))
     and not exists (select from transcripts o where o.session_id = t.session_id and o.subpath = t.subpath and o.deleted_at is null);
$$;

comment on function _transcripts_gone(text, text, text) is
  'The erased transcripts of a recorded session, or of one above it, which its file does not bring back: it may never have been read into work. One of the same id in another scope that is still here is not gone.';

create or replace function _import_kept(p_of transcripts, p_item work_items, p_is_live boolean, p_is_followed boolean)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if p_of.id is not null then
    -- Erasing it waits for this, or the other way round.
    update transcripts set work_item_id = p_item.id where id = p_of.id and deleted_at is null and work_item_id is distinct from p_item.id;
    perform _import_transcript(json_build_object('projectKey', p_of.project_key, 'sessionId', p_of.session_id, 'subpath', p_of.subpath));
  end if;
  perform _recorded_alive(p_item.id, 300) where p_is_live and (p_of.id is not null or p_is_followed);
  perform _recorded_rest(p_item.id) where p_is_followed and p_is_live is not true;
end
$$;

comment on function _import_kept(transcripts, work_items, boolean, boolean) is 'The work item of a transcript is known; a session that is kept or followed while it runs is alive if its program runs, and a followed one rests if not. Raises WL003 if the transcript was erased meanwhile.';
