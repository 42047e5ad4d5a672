-- Transcripts that other programs store in the ledger line by line. They are not interpreted here: session_import() turns them into turns after the
-- commit, see transcripts_take().

create or replace function transcript_append(
    p_project_key text,
    p_session_id text,
    p_subpath text,
    p_entries json,
    p_uuids text[],
    p_project text default null,
    p_summary text default null,
    p_summary_of integer default 0,
    p_keep_secrets boolean default false)
  returns table (appended integer, last_seq integer, is_stale boolean, summary text)
  language plpgsql
  volatile
  rows 1
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
declare
  v_of transcripts;
  v_entries text[];
  v_are_objects boolean;
  v_redact text := coalesce(current_setting('work_ledger.redact', true), '');
begin
  if json_typeof(p_entries) = 'array' then
    select array_agg(e.value::text order by e.n), coalesce(bool_and(json_typeof(e.value) = 'object'), true) into v_entries, v_are_objects
      from json_array_elements(p_entries) with ordinality as e(value, n);
  end if;
  if v_are_objects is not true or array_ndims(p_uuids) > 1
    or coalesce(cardinality(v_entries), 0) <> coalesce(cardinality(p_uuids), 0) or array_position(p_uuids, null) is not null then
    perform _raise_invalid('a transcript needs a list of JSON objects, and a uuid for each');
  end if;
  perform _check_key('a uuid', u) from unnest(p_uuids) u where octet_length(u) > 1000;
  v_of := _transcript_open(p_project_key, p_session_id, p_subpath, p_project);
  if p_summary is not null and v_of.last_seq <> coalesce(p_summary_of, 0) then
    return query select 0, v_of.last_seq, true, case when v_of.summary_seq = v_of.last_seq then v_of.summary end;
    return;
  end if;
  perform set_config('work_ledger.redact', 'off', true) where p_keep_secrets;
  insert into transcript_entries (transcript_id, seq, uuid, entry)
  select v_of.id, v_of.last_seq + row_number() over (order by n.n), n.uuid, n.entry
    from (select e.*, row_number() over (partition by e.uuid order by e.n) as time
            from rows from (unnest(p_uuids), unnest(v_entries)) with ordinality as e(uuid, entry, n)) n
   where n.time = 1 and not exists (select from transcript_entries x where x.transcript_id = v_of.id and x.uuid = n.uuid);
  get diagnostics appended = row_count;
  perform set_config('work_ledger.redact', v_redact, true) where p_keep_secrets;
  last_seq := v_of.last_seq + appended;
  is_stale := false;
  if appended > 0 then
    update transcripts t
       set last_seq = transcript_append.last_seq, project = coalesce(t.project, _project_check(p_project)), updated_at = greatest(t.updated_at, _now()),
           summary = coalesce(p_summary, t.summary), summary_seq = case when p_summary is null then t.summary_seq else transcript_append.last_seq end
     where t.id = v_of.id;
  end if;
  return next;
end
$$;

comment on function transcript_append(text, text, text, json, text[], text, text, integer, boolean) is
  'Appends entries to the transcript of another program''s session, each a JSON object, which transcript_load() gives back as they came. p_project_key, p_session_id: whose transcript it is; p_subpath: which of the session''s, null: the main one. p_entries: a list. p_uuids: for each what it is known by: one that the transcript has already is not appended again. p_project: the project of the work item that the session becomes (default: the path of its directory), as in work_submit(): the first one that is named counts. p_summary: what the caller folded of the summary of all entries up to number p_summary_of and these, JSON of its own, stored with them; where the transcript goes further by now, nothing is appended, is_stale is true, and summary is what is to be folded upon (null: fold all). p_keep_secrets: secrets in the entries stay, see docs/security.md; in turns and calls they never do. Appending again does no harm. One transaction at a time appends to a transcript. Returns {appended, last_seq, is_stale, summary}: how many were new, and how many there are. Raises WL002, WL003 (it was erased), 42501 (somebody else''s).';

create or replace function _transcript_open(p_project_key text, p_session_id text, p_subpath text, p_project text)
  returns transcripts
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_of transcripts;
begin
  select * into v_of from transcripts
   where session_id = p_session_id and project_key = p_project_key and subpath = coalesce(p_subpath, '') for no key update;
  if not found then
    if coalesce(p_project_key, '') = '' or coalesce(p_session_id, '') = '' then
      perform _raise_invalid('a transcript needs a project key and the id of a session');
    end if;
    perform _check_key('a project key', p_project_key), _check_key('the id of a session', p_session_id), _check_key('a subpath', p_subpath);
    -- Whoever erases the session waits for this, or has marked it by the next statement.
    perform from transcripts t where t.session_id = p_session_id and t.project_key = p_project_key and t.subpath = '' for no key update;
    -- Nobody may add to another role's session.
    perform _transcript_check(t) from transcripts t where t.session_id = p_session_id and t.project_key = p_project_key;
    -- A session that was erased must not come back by another transcript, nor one whose import was erased.
    perform _transcript_refuse(t.project_key, t.session_id) from transcripts t
      where t.session_id = p_session_id and t.project_key = p_project_key and t.subpath = '' and t.deleted_at is not null;
    perform _refuse_erased(w.id) from work_items w where w.external_id = 'import:claude-code:' || p_session_id and w.submitted_by = session_user;
    insert into transcripts (project_key, session_id, subpath, project)
    values (p_project_key, p_session_id, coalesce(p_subpath, ''), _project_check(p_project))
    on conflict do nothing;
    select * into v_of from transcripts
     where session_id = p_session_id and project_key = p_project_key and subpath = coalesce(p_subpath, '') for no key update;
  end if;
  perform _transcript_check(v_of);
  perform _transcript_refuse(v_of.project_key, v_of.session_id) where v_of.deleted_at is not null;
  perform _refuse_erased(v_of.work_item_id) where v_of.work_item_id is not null;
  return v_of;
end
$$;

comment on function _transcript_open(text, text, text, text) is 'The transcript of a key, locked; made if there is none. Raises WL002, WL003, 42501.';

create or replace function _transcript_check(p_of transcripts)
  returns void
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if p_of.submitted_by <> session_user and not _writes_for_all() then
    raise exception using
      errcode = 'insufficient_privilege',
      message = format('the transcript of session %s was begun by %s', _one_line(p_of.session_id, 100), p_of.submitted_by),
      hint = 'Only the role that began it and roles that may write to all work can append to it: see work_roles_create().';
  end if;
end
$$;

comment on function _transcript_check(transcripts) is 'Refuses whoever is logged in, unless they began the transcript or may write for all. Raises 42501.';

create or replace function _transcript_refuse(p_project_key text, p_session_id text)
  returns void
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  raise exception using
    errcode = 'WL003',
    message = format('the session %s in %s was erased', _one_line(p_session_id, 100), _one_line(p_project_key, 200)),
    hint = 'Nothing more can be appended to it: begin another session.';
end
$$;

comment on function _transcript_refuse(text, text) is 'Raises WL003: the transcript was erased.';

create or replace function _redact_transcript()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_row json := (select json_build_object('work_item_id', t.work_item_id) from transcripts t where t.id = new.transcript_id);
begin
  new.entry := _redact_text(new.entry, tg_table_name, v_row);
  return new;
end
$$;

comment on function _redact_transcript() is 'Trigger: takes secrets out of an entry of a transcript.';

create or replace trigger redact before insert or update of entry on transcript_entries for each row
  when (_may_hold_secret(new.entry)) execute function _redact_transcript();

create or replace function _redact_summary()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  new.summary := _redact_text(new.summary, tg_table_name, json_build_object('work_item_id', new.work_item_id));
  new.problem := _redact_text(new.problem, tg_table_name, json_build_object('work_item_id', new.work_item_id));
  return new;
end
$$;

comment on function _redact_summary() is 'Trigger: takes secrets out of the summary of a transcript, and out of what is said of it.';

create or replace trigger redact before insert or update of summary, problem on transcripts for each row
  when (_may_hold_secret(new.summary) or _may_hold_secret(new.problem)) execute function _redact_summary();
