-- Stores notes, one version after the other, under a lock on their project.

create or replace function _memory_locked(p_project text)
  returns text
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_project text := coalesce(_project_now(nullif(p_project, '')), '');
  v_now text;
begin
  -- Repeat until the project was not renamed in between: project_rename() takes this lock as well.
  loop
    perform _lock('memory', v_project);
    v_now := coalesce(_project_now(nullif(v_project, '')), '');
    exit when v_now = v_project;
    v_project := v_now;
  end loop;
  return v_project;
end
$$;

comment on function _memory_locked(text) is 'Locks the notes of a project (null or empty: of none), and returns the name that it has today.';

create or replace function _memory_fits(p_path text)
  returns boolean
  language sql
  immutable
  parallel safe
  return octet_length(p_path) <= 500 and cardinality(string_to_array(p_path, '/')) <= 12;

comment on function _memory_fits(text) is 'Whether a path of a note is short enough: 500 bytes, 10 names below /memories.';

create or replace function _memory_path(p_path text)
  returns text
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_path text := regexp_replace(regexp_replace(normalize(p_path, NFC), '/{2,}', '/', 'g'), '(.)/$', '\1');
  v_shown text := _one_line(p_path, 200);
begin
  if coalesce(v_path, '') !~ '^/memories(/|$)' then
    perform _raise_invalid(format('Path must start with /memories, got: %s', v_shown));
  elsif v_path ~ '(^|/)\.\.?(/|$)' or v_path ~* '%(2e|2f|5c|00|25)' or strpos(v_path, '\') > 0 then
    perform _raise_invalid(format('Path %s would escape /memories directory', v_shown));
  elsif v_path <> _spaced(v_path) or v_path ~ '/ | /' then
    perform _raise_invalid(format('Path %s has invisible characters, or blanks where they cannot be seen', v_shown));
  elsif not _memory_fits(v_path) then
    perform _raise_invalid(format('Path %s is too long: at most 500 bytes and 10 names below /memories', v_shown));
  elsif _redacted(v_path) <> v_path then
    perform _raise_invalid('the path of a note must not contain a secret');
  end if;
  return v_path;
end
$$;

comment on function _memory_path(text) is
  'The path of a note in its stored form: without doubled slashes and a trailing slash, its letters composed. Raises WL002 for a path that is not below /memories, leads out of it (also encoded), cannot be read or is too long.';

create or replace function _memory_file(p_project text, p_path text)
  returns memory_files
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select f from memory_files f where f.project = p_project and f.path = p_path and not f.is_deleted;
$$;

comment on function _memory_file(text, text) is 'The file of a project at a path; null: there is none.';

create or replace function _memory_below(p_project text, p_path text)
  returns setof memory_files
  language sql
  stable
  rows 10
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select f.* from memory_files f where f.project = p_project and not f.is_deleted and starts_with(f.path, p_path || '/') order by f.path collate "C";
$$;

comment on function _memory_below(text, text) is 'The files of a project in a folder and in those below it.';

create or replace function _memory_content(p_file memory_files)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select v.content from memory_versions v where v.file_id = p_file.id and v.version = p_file.version;
$$;

comment on function _memory_content(memory_files) is 'What a file says now; null: it is deleted.';

create or replace function _memory_seen(p_hand memory_hand, p_file_id uuid, p_version integer)
  returns void
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  insert into memory_views (file_id, reader, version, work_item_id)
  select p_file_id, p_hand.reader, p_version, p_hand.work_item_id where p_hand.reader is not null
  on conflict (file_id, reader) do update set version = excluded.version, viewed_at = _now();
$$;

comment on function _memory_seen(memory_hand, uuid, integer) is 'Records which version of a file a reader knows; does nothing for a reader without a name.';

create or replace function _memory_store(p_hand memory_hand, p_file memory_files, p_command text, p_path text, p_content text)
  returns memory_files
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_before integer := p_file.version;
  v_file memory_files;
begin
  if octet_length(p_content) > 65536 then
    raise exception using
      errcode = 'WL009',
      message = format('File %s would have %s bytes, and a note can have at most 65,536', p_path, octet_length(p_content)),
      hint = 'Remove what is no longer needed, or start another file.';
  elsif p_command in ('str_replace', 'write', 'rollback') and p_content = _memory_content(p_file) then
    return p_file; -- nothing changes
  end if;
  update memory_files
     set version = version + 1, path = p_path, is_deleted = p_content is null, updated_at = _now(),
         pinned_at = case when p_content is not null then pinned_at end, pinned_by = case when p_content is not null then pinned_by end,
         pinned_version = case when p_content is not null then pinned_version end
   where id = p_file.id
  returning * into v_file;
  insert into memory_versions (file_id, version, command, path, content, work_item_id, tool_call_id, person, why, idempotency_key)
  values (v_file.id, v_file.version, p_command, p_path, p_content, p_hand.work_item_id, p_hand.tool_call_id, _person(), nullif(btrim(p_hand.why), ''),
          p_hand.idempotency_key);
  if p_command in ('rename', 'merge') then
    -- The words are the same, so readers that knew them still do.
    update memory_views set version = v_file.version where file_id = v_file.id and version = v_before;
  elsif p_command in ('create', 'write', 'rollback') or exists (
    select from memory_views s where s.file_id = v_file.id and s.reader = p_hand.reader and s.version = v_before) then
    perform _memory_seen(p_hand, v_file.id, v_file.version);
  end if;
  return v_file;
end
$$;

comment on function _memory_store(memory_hand, memory_files, text, text, text) is
  'Stores the next version of a file, whose project the caller has locked. p_content null: the file is deleted. A reader who knew the previous content knows the new one; any other writer knows it only after writing the whole file. Raises WL009.';

create or replace function _memory_new(p_project text, p_path text)
  returns memory_files
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_file memory_files;
  v_above text;
begin
  select f.path into v_above from memory_files f
   where f.project = p_project and not f.is_deleted and starts_with(p_path, f.path || '/') limit 1;
  if found then
    perform _raise_invalid(format('The path %s is a file, not a directory', v_above));
  elsif (select count(*) >= 200 from memory_files f where f.project = p_project and not f.is_deleted) then
    raise exception using errcode = 'WL009', message = 'There are already 200 note files, the most that a project can have',
      hint = 'Delete what is no longer needed, or write to an existing file.';
  end if;
  select * into v_file from memory_files f where f.project = p_project and f.path = p_path and f.is_deleted order by f.updated_at desc, f.id desc limit 1;
  if not found then
    insert into memory_files (project, path, is_deleted, is_chained)
    values (p_project, p_path, true, _is_chained())
    returning * into v_file;
  end if;
  return v_file;
end
$$;

comment on function _memory_new(text, text) is 'The row of a file about to be created: a new one, or that of a file deleted at this path, whose history continues. Raises WL002, WL009.';

create or replace function _memory_merge(p_from text, p_to text)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_hand memory_hand;
  v_file memory_files;
  v_folder text;
  v_path text;
begin
  perform _lock_all('memory', array[p_from, p_to]);
  v_hand.why := format('project %s was renamed to %s', _one_line(p_from, 300), _one_line(p_to, 300));
  -- If both projects have a file at the same path, the moved one goes to a folder named after the end of the old name.
  v_folder := regexp_replace(regexp_replace(p_from, '^.*/', ''), '[^[:alnum:]._-]+', '-', 'g');
  v_folder := '/memories/' || coalesce(nullif(btrim(left(v_folder, 60), '.-'), ''), 'other');
  for v_file in select * from memory_files f where f.project = p_from and not f.is_deleted order by f.path collate "C" loop
    v_path := v_file.path;
    for v_n in 0 .. 1000 loop
      exit when not exists (
        select from memory_files o
         where o.project = p_to and not o.is_deleted
           and (o.path = v_path or starts_with(o.path, v_path || '/') or starts_with(v_path, o.path || '/')));
      v_path := v_folder || case when v_n > 0 then '-' || v_n + 1 else '' end || substr(v_file.path, length('/memories') + 1);
      v_path := case when _memory_fits(v_path) then v_path else v_folder || '/' || v_file.id || '-' || v_n end;
    end loop;
    update memory_files set project = p_to, path = v_path where id = v_file.id;
    if v_path <> v_file.path then
      perform _memory_store(v_hand, v_file, 'merge', v_path, _memory_content(v_file));
    end if;
  end loop;
  update memory_files set project = p_to where project = p_from;
end
$$;

comment on function _memory_merge(text, text) is
  'Gives the notes of one project to another. Where both have a file at a path, or one has a folder where the other has a file, the other project''s stays and this one moves into a folder named after its project. Nothing is lost, even if that makes more than 200 files.';
