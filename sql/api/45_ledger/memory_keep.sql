-- Functions for people to write, roll back, pin and erase notes; and the notes that an agent's first message contains.

create or replace function memory_write(
    p_path text,
    p_content text,
    p_project text default null,
    p_version integer default null,
    p_why text default null)
  returns integer
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_path text := _memory_path(p_path);
  v_hand memory_hand := _memory_hand(p_project, null, null, null);
  v_file memory_files;
begin
  if p_content is null then
    perform _raise_invalid('a note needs a text; memory_command() deletes one');
  end if;
  v_hand.why := _memory_why(p_why);
  v_hand.project := _memory_locked(v_hand.project);
  v_file := _memory_file(v_hand.project, v_path);
  if p_content = _memory_content(v_file) or _redacted(p_content) = _memory_content(v_file) then
    return v_file.version; -- also if the caller never got the answer and repeats the call
  elsif v_file.id is null and (v_path = '/memories' or exists (select from _memory_below(v_hand.project, v_path))) then
    perform _raise_invalid(format('The path %s is a directory', v_path));
  elsif v_file.id is null and p_version is null then
    v_file := _memory_new(v_hand.project, v_path);
  elsif v_file.id is null then
    perform _raise_no_memory(v_path);
  elsif p_version is null then
    raise exception using errcode = 'WL006', message = format('File %s already exists', v_path),
      hint = format('It has version %s: pass that as p_version.', v_file.version);
  else
    perform _memory_is(v_file, p_version);
  end if;
  return (_memory_store(v_hand, v_file, 'write', v_path, p_content)).version;
end
$$;

comment on function memory_write(text, text, text, integer, text) is
  'Writes a whole note and returns its new version: select memory_write(''/memories/style.md'', ''Tabs.'', ''github.com/acme/shop''). p_project: any of its names; null: the notes of work without a project. p_version: the version to replace, as it was read (v_memory_files); null: the file does not exist yet. If the version has changed since, the call is refused, and the message says what changed. If the content is already the same, nothing happens. p_why: the reason, kept in the note''s history. Raises WL001, WL002, WL006 (it exists), WL008 (it was changed), WL009 (64 KB, 200 files).';

create or replace function _memory_why(p_why text)
  returns text
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if octet_length(p_why) > 1000 then
    perform _raise_invalid('a reason can have at most 1,000 bytes');
  end if;
  return p_why;
end
$$;

comment on function _memory_why(text) is 'The reason for a change of notes. Raises WL002.';

create or replace function _memory_is(p_file memory_files, p_version integer)
  returns void
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if p_version > p_file.version or p_version < 1 then
    perform _raise_invalid(format('File %s has no version %s: it is version %s', p_file.path, p_version, p_file.version));
  elsif p_version < p_file.version then
    perform _raise_memory_changed(p_file, p_version);
  end if;
end
$$;

comment on function _memory_is(memory_files, integer) is 'Refuses to replace or pin another version than the newest. Raises WL002, WL008.';

create or replace function memory_rollback(
    p_path text,
    p_version integer,
    p_project text default null,
    p_replaces integer default null,
    p_why text default null)
  returns integer
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_path text := _memory_path(p_path);
  v_hand memory_hand := _memory_hand(p_project, null, null, null);
  v_file memory_files;
  v_old memory_versions;
begin
  v_hand.why := coalesce(_memory_why(p_why), format('back to version %s', p_version));
  v_hand.project := _memory_locked(v_hand.project);
  v_file := _memory_file(v_hand.project, v_path);
  if v_file.id is null then
    select * into v_file from memory_files f
     where f.project = v_hand.project and f.path = v_path and f.is_deleted order by f.updated_at desc, f.id desc limit 1;
    if not found then
      perform _raise_no_memory(v_path);
    end if;
    -- What is at the path now, and the number of files, count as they do for a new file.
    if exists (select from _memory_below(v_hand.project, v_path)) then
      perform _raise_invalid(format('The path %s is a directory by now', v_path));
    end if;
    v_file := _memory_new(v_hand.project, v_path);
  end if;
  select * into v_old from memory_versions v where v.file_id = v_file.id and v.version = p_version;
  if v_old.content = _memory_content(v_file) and v_old.erased_hash is null then
    return v_file.version; -- also if the caller never got the answer and repeats the call
  end if;
  perform _memory_is(v_file, p_replaces) where p_replaces is not null;
  if v_old.file_id is null then
    perform _raise_invalid(format('File %s has no version %s: it has %s', v_path, p_version, v_file.version));
  elsif v_old.content is null or v_old.erased_hash is not null then
    perform _raise_invalid(format('Version %s of %s has no text: it was %s', p_version, v_path,
      case when v_old.content is null then 'deleted, and memory_command() deletes notes' else 'erased' end));
  end if;
  return (_memory_store(v_hand, v_file, 'rollback', v_path, v_old.content)).version;
end
$$;

comment on function memory_rollback(text, integer, text, integer, text) is
  'Restores the text of an earlier version of a note, even a deleted one, and returns its new version: select memory_rollback(''/memories/style.md'', 3, ''github.com/acme/shop''). p_version: see v_memory_versions. p_project: any of its names; null: the notes of work without a project. p_replaces: the note''s current version, as it was read; if that has changed since, the call is refused. p_why: the reason, kept in the note''s history. Nothing is lost: the text it replaces is also kept as a version. Raises WL001, WL002, WL008, WL009.';

create or replace function memory_pin(p_path text, p_is_pinned boolean default true, p_project text default null, p_version integer default null)
  returns boolean
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_path text := _memory_path(p_path);
  v_project text := _memory_locked((_memory_hand(p_project, null, null, null)).project);
  v_file memory_files := _memory_file(v_project, v_path);
  v_tokens integer;
begin
  if v_file.id is null then
    perform _raise_no_memory(v_path);
  elsif v_file.pinned_version is not distinct from (case when coalesce(p_is_pinned, true) then v_file.version end) then
    return false;
  end if;
  if coalesce(p_is_pinned, true) then
    perform _memory_is(v_file, p_version) where p_version is not null;
    select _tokens(coalesce(sum(length(v.content) + length(f.path) + 8), 0)::bigint, 'claude') into v_tokens
      from memory_files f
      join memory_versions v on v.file_id = f.id and v.version = case when f.id = v_file.id then f.version else f.pinned_version end
     where f.project = v_project and (f.pinned_at is not null or f.id = v_file.id);
    if v_tokens > 500 then
      raise exception using errcode = 'WL009',
        message = format('Pinned notes would add about %s tokens to each agent''s first message, of at most 500', v_tokens),
        hint = 'Pin a shorter note, or unpin another.';
    end if;
  end if;
  update memory_files
     set pinned_at = case when coalesce(p_is_pinned, true) then _now() end,
         pinned_by = case when coalesce(p_is_pinned, true) then coalesce(_person(), session_user) end,
         pinned_version = case when coalesce(p_is_pinned, true) then version end
   where id = v_file.id;
  return true;
end
$$;

comment on function memory_pin(text, boolean, text, integer) is
  'Pins a note, so that the first message of each agent and each session of its project includes it from now on; with p_is_pinned false, unpins it. select memory_pin(''/memories/style.md'', p_project => ''github.com/acme/shop''). Agents see the version that was pinned; later edits are not shown until the note is pinned again. All pinned notes together may use 500 tokens. Agents may edit a pinned note, but not delete or rename it. p_project: any of its names; null: the notes of work without a project. p_version: the version to pin, as it was read; if there is a newer one by now, the call is refused. Null: the newest. Returns whether anything changed. Raises WL001, WL002, WL008, WL009 (500 tokens).';

create or replace function _memory_pinned(p_project text)
  returns text
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_chars integer := 500 * 1000000::bigint / _tokens(1000000, 'claude');
  v_all text := (
    select string_agg(format(E'%s:\n%s', f.path, btrim(v.content, E' \t\r\n')), E'\n\n' order by f.path collate "C")
      from memory_files f
      join memory_versions v on v.file_id = f.id and v.version = f.pinned_version
     where f.project = coalesce(_project_now(p_project), '') and f.pinned_at is not null and v.content <> '[erased]');
begin
  return case when length(v_all) > v_chars then left(v_all, v_chars - 60) || E'\n[engine: pinned notes are cut here]' else v_all end;
end
$$;

comment on function _memory_pinned(text) is 'The pinned notes of a project (null: of none) as its agents are shown them, at most 500 tokens. Null: there are none.';

create or replace function _memory_told(p_project text)
  returns text
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select _fenced('Notes of this project that people pinned, as data between the markers', _memory_pinned(p_project));
$$;

comment on function _memory_told(text) is '_memory_pinned() between markers. Null: nothing is pinned.';
