-- Transcripts that other programs keep in the ledger line by line: appended, read back, listed, erased. Nothing is read out of them here: what
-- they say becomes turns by session_import(), after the commit, see transcripts_take().

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
  if v_are_objects is not true or coalesce(cardinality(v_entries), 0) <> coalesce(cardinality(p_uuids), 0) or array_position(p_uuids, null) is not null then
    perform _raise_invalid('a transcript takes a list of JSON objects, and a uuid for each');
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
       set last_seq = transcript_append.last_seq, updated_at = greatest(t.updated_at, _now()),
           summary = coalesce(p_summary, t.summary), summary_seq = case when p_summary is null then t.summary_seq else transcript_append.last_seq end
     where t.id = v_of.id;
  end if;
  return next;
end
$$;

comment on function transcript_append(text, text, text, json, text[], text, text, integer, boolean) is
  'Appends entries to the transcript of another program''s session, each a JSON object, which transcript_load() gives back as they came. p_project_key, p_session_id: whose transcript it is; p_subpath: which of the session''s, null: the main one. p_entries: a list. p_uuids: for each what it is known by: one that the transcript has already is not appended again. p_project: the project of the work item that the session becomes (default: that of its directory), as in work_submit(). p_summary: what the caller folded of the summary of all entries up to number p_summary_of and these, JSON of its own, stored with them; where the transcript goes further by now, nothing is appended, is_stale is true, and summary is what is to be folded upon (null: fold all). p_keep_secrets: secrets in the entries stay, see docs/security.md; in turns and calls they never do. Appending again does no harm. One transaction at a time appends to a transcript. Returns {appended, last_seq, is_stale, summary}: how many were new, and how many there are. Raises WL002, WL003 (it was erased), 42501 (somebody else''s).';

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
    -- Nobody adds to the session of somebody else.
    perform _transcript_check(t) from transcripts t where t.session_id = p_session_id and t.project_key = p_project_key;
    -- A session that was erased does not come back by another transcript, nor one whose import was erased.
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
      hint = 'Who began it appends to it, and those who may write to the work of everybody: see work_roles_create().';
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
    hint = 'Nothing is appended to it any more: begin another session.';
end
$$;

comment on function _transcript_refuse(text, text) is 'Raises WL003: the transcript was erased.';

create or replace function transcript_load(p_project_key text, p_session_id text, p_subpath text default null, p_after integer default 0,
                                           p_limit integer default null)
  returns table (seq integer, entry text)
  language plpgsql
  stable
  rows 1000
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
begin
  if p_limit < 0 then
    perform _raise_invalid('p_limit must not be negative');
  end if;
  return query
    select e.seq, e.entry
      from transcript_entries e
     where e.transcript_id = (select t.id from transcripts t
                               where t.session_id = p_session_id and t.project_key = p_project_key and t.subpath = coalesce(p_subpath, '')
                                 and t.deleted_at is null)
       and e.seq > coalesce(p_after, 0)
     order by e.seq
     limit p_limit;
end
$$;

comment on function transcript_load(text, text, text, integer, integer) is
  'The entries of a transcript in the order in which they were appended, each as JSON in a text; seq counts them from 1. p_subpath: null: the main transcript. p_after: only those after this number. p_limit: the first of these; null: all. None: it was never written, or is erased. Raises WL002.';

create or replace function transcript_list(p_project_key text, p_session_id text default null)
  returns table (session_id text, subpath text, mtime bigint, entry_count integer, summary text)
  language sql
  stable
  rows 100
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select t.session_id, nullif(t.subpath, ''), floor(extract(epoch from t.updated_at) * 1000)::bigint, t.last_seq,
         case when t.summary_seq = t.last_seq then t.summary end
    from transcripts t
   where t.project_key = p_project_key and t.deleted_at is null and t.last_seq > 0 and (p_session_id is null or t.session_id = p_session_id)
   order by t.updated_at desc, t.id;
$$;

comment on function transcript_list(text, text) is
  'The transcripts of a project key, or of one of its sessions, those that were appended to last first. subpath: null for a main one. mtime: when something was appended last, in milliseconds since 1970 by the clock of the database. summary: as transcript_append() was given it; null: it does not go to the end.';

create or replace function transcript_delete(p_project_key text, p_session_id text, p_subpath text default null)
  returns integer
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_ids uuid[] := array(select t.id from transcripts t
                         where t.session_id = p_session_id and t.project_key = p_project_key and coalesce(p_subpath, '') in ('', t.subpath)
                           and t.deleted_at is null
                         order by t.id);
  v_item work_items;
begin
  perform _transcript_check(t) from transcripts t where t.id = any (v_ids);
  -- Again, if one was read into an item meanwhile.
  loop
    for v_item in select w.* from _transcript_items(v_ids, coalesce(p_subpath, '') = '') i join work_items w on w.id = i order by w.id loop
      perform journal_session_status(v_item.id, 'completed') where v_item.resolved_at is null;
      perform count(*) from work_erase(v_item.id, 'deleted by its program');
    end loop;
    perform from transcripts t where t.id = any (v_ids) order by t.id for no key update;
    exit when not exists (select from _transcript_items(v_ids, coalesce(p_subpath, '') = ''));
  end loop;
  delete from transcript_entries e where e.transcript_id = any (v_ids);
  update transcripts t set summary = null, problem = null, deleted_at = coalesce(t.deleted_at, _now()) where t.id = any (v_ids);
  return cardinality(v_ids);
end
$$;

comment on function transcript_delete(text, text, text) is
  'Erases a transcript for good, with the work item that was made of it (see work_erase()), and returns how many transcripts went. p_subpath: only that one; null: the whole session, with its subagents. What stays is that it was: nothing can be appended to it any more. A session under way is completed first. Erasing again finds nothing, and does no harm. Raises WL008 (its turns are shared by forks: erase those first), 42501.';

create or replace function _transcript_items(p_ids uuid[], p_with_agents boolean)
  returns setof uuid
  language sql
  stable
  rows 5
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with own as (
    select w.id, w.external_id
      from work_items w
     where w.id in (select t.work_item_id from transcripts t where t.id = any (p_ids))
       and not exists (select from transcripts o where o.work_item_id = w.id and o.id <> all (p_ids) and o.deleted_at is null)
  )
  select w.id
    from work_items w
   where w.erased_at is null and w.id in (
     select o.id from own o
      union
     select f.work_item_id
       from own o
       join sessions s on s.parent_session_label = substr(o.external_id, 8) and s.is_subagent
       join foci f on f.session_label = s.label
      where p_with_agents);
$$;

comment on function _transcript_items(uuid[], boolean) is 'The work items, not erased, that these transcripts alone were read into; p_with_agents: and those of their subagents.';

create or replace function transcripts_take(p_age interval default interval '10 seconds', p_limit integer default 10)
  returns table (project_key text, session_id text, subpath text, project text, submitted_by name)
  language plpgsql
  volatile
  rows 10
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
begin
  if p_age is null or p_age not between interval '0' and interval '1 year' or p_limit is null or p_limit < 0 then
    perform _raise_invalid('p_age must be from nothing to a year, and p_limit given and not negative');
  end if;
  return query
    with due as (
      select t.id
        from transcripts t
       where t.understood_seq < t.last_seq and t.deleted_at is null and t.updated_at < _now() - p_age
         and (t.taken_ends_at is null or t.taken_ends_at < _now()) and (t.submitted_by = session_user or _writes_for_all())
       order by t.updated_at
       limit p_limit
         for no key update skip locked
    )
    update transcripts t set taken_ends_at = _now() + interval '5 minutes'
      from due d where t.id = d.id
    returning t.project_key, t.session_id, nullif(t.subpath, ''), t.project, t.submitted_by;
end
$$;

comment on function transcripts_take(interval, integer) is
  'Transcripts whose newest entries nobody has read into turns for p_age, for the caller to read: at most p_limit, the oldest first. Nobody else is given them for five minutes. Whoever appends reads them itself; this finds what a program left that ended. session_import() stores what was read, transcript_understood() says so. Raises WL002.';

create or replace function transcript_understood(p_project_key text, p_session_id text, p_subpath text, p_seq integer, p_problem text default null)
  returns integer
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
    perform _raise_invalid(format('there is no transcript of session %s', _one_line(coalesce(p_session_id, 'null'), 100)));
  end if;
  perform _transcript_check(v_of);
  update transcripts
     set understood_seq = case when p_problem is null then least(greatest(understood_seq, p_seq), last_seq) else understood_seq end,
         problem = _cap_text(p_problem, 1000), taken_ends_at = case when p_problem is not null then _now() + interval '1 minute' end
   where id = v_of.id
  returning understood_seq into v_of.understood_seq;
  return v_of.understood_seq;
end
$$;

comment on function transcript_understood(text, text, text, integer, text) is
  'Says that the entries of a transcript up to number p_seq were read into turns. p_problem: why they could not be read: they count as not read, and are tried again after a minute. Returns up to which entry it was read. Raises WL002, 42501.';

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
