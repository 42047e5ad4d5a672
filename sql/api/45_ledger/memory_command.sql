-- The memory tool of models (memory_20250818): notes in files below /memories, with the commands, results and errors that models know.

create or replace function memory_command(
    p_input json,
    p_project text default null,
    p_work_item_id uuid default null,
    p_lease uuid default null,
    p_reader text default null,
    p_idempotency_key text default null)
  returns text
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_input jsonb := _try_json(p_input::text); -- null: jsonb cannot hold it, and it is not a command
  v_command text := v_input ->> 'command';
  v_hand memory_hand := _memory_hand(p_project, p_work_item_id, p_lease, p_reader);
  v_path text;
begin
  perform _check_idempotency_key(p_idempotency_key),
          _check_word('a memory command', v_command, '{view,create,str_replace,insert,delete,rename}');
  v_path := _memory_path(_memory_word(v_input, case v_command when 'rename' then 'old_path' else 'path' end));
  if v_command <> 'view' then
    v_hand.project := _memory_locked(v_hand.project);
    v_hand.idempotency_key := p_idempotency_key;
    if exists (select from memory_versions v where v.idempotency_key = p_idempotency_key) then
      return _memory_done(v_hand, v_command, v_path, v_input);
    end if;
  end if;
  return case v_command
    when 'view' then _memory_view(v_hand, v_path, nullif(v_input -> 'view_range', 'null'))
    when 'create' then _memory_create(v_hand, v_path, _memory_word(v_input, 'file_text'))
    when 'str_replace' then _memory_str_replace(v_hand, v_path, _memory_word(v_input, 'old_str'), coalesce(v_input ->> 'new_str', ''))
    when 'insert' then _memory_insert(v_hand, v_path, v_input ->> 'insert_line', _memory_word(v_input, 'insert_text'))
    when 'delete' then _memory_delete(v_hand, v_path)
    else _memory_rename(v_hand, v_path, _memory_path(_memory_word(v_input, 'new_path'))) end;
end
$$;

comment on function memory_command(json, text, uuid, uuid, text, text) is
  'Runs a command of the memory tool (memory_20250818) on the notes of a project: view, create, str_replace, insert, delete or rename, with the input, results and errors that models know: select memory_command(''{"command": "view", "path": "/memories"}'', ''github.com/acme/shop''). Notes outlast work; every version is kept (v_memory_versions). At most 200 files of 64 KB; paths are below /memories. p_project: any of its names; null: the notes of work without a project. p_work_item_id: the item whose agent calls (its project then applies), with its p_lease while it is driven. p_reader: a name for a caller without an item, of its own choice. p_idempotency_key: a command that already wrote something with this key does nothing and returns the earlier answer. For an item or a named reader, the version it was last shown is recorded. An insert (except at line 0) or a delete of a file that others have changed since is refused, and the message says what changed. str_replace changes the newest version, since its old text must occur there once. create never overwrites. A fork must view a file before it inserts or deletes. A pinned file cannot be deleted or renamed. Raises WL001 (no such path or item), WL002, WL003, WL004, WL005, WL006 (the path is taken; the key was used for another command), WL008 (changed since it was viewed; pinned), WL009 (64 KB, 200 files), 42501.';

create or replace function _memory_hand(p_project text, p_work_item_id uuid, p_lease uuid, p_reader text)
  returns memory_hand
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items;
  v_hand memory_hand;
begin
  perform _check_key('the name of a reader', p_reader);
  if p_work_item_id is null then
    v_hand.project := coalesce(_project_check(nullif(p_project, '')), '');
    v_hand.reader := 'r:' || nullif(p_reader, '');
    return v_hand;
  end if;
  v_item := _fence(p_work_item_id, coalesce(p_lease, nullif(current_setting('work_ledger.lease', true), '')::uuid));
  v_hand.project := coalesce(_project_now(v_item.project), '');
  v_hand.reader := v_item.id;
  v_hand.work_item_id := v_item.id;
  v_hand.tool_call_id := (select k.id from tool_calls k
                           where k.id = nullif(current_setting('work_ledger.tool_call_id', true), '')::uuid and k.work_item_id = v_item.id);
  v_hand.is_fork := v_item.fork_turn_id is not null;
  return v_hand;
end
$$;

comment on function _memory_hand(text, uuid, uuid, text) is 'Identifies who calls memory_command(), and whose notes it uses. Raises WL001 to WL005, 42501.';

create or replace function _memory_done(p_hand memory_hand, p_command text, p_path text, p_input jsonb)
  returns text
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_done memory_versions;
begin
  select v.* into v_done
    from memory_versions v
    join memory_files f on f.id = v.file_id
   where v.idempotency_key = p_hand.idempotency_key and v.command = p_command and f.project = p_hand.project
     and (v.path = p_path or starts_with(v.path, p_path || '/') or p_command = 'rename')
   order by v.version limit 1;
  if not found then
    raise exception using errcode = 'WL006', message = format('idempotency key "%s" was used for another command', p_hand.idempotency_key);
  end if;
  return case p_command
    when 'create' then format('File created successfully at: %s', p_path)
    when 'str_replace' then _memory_edited(v_done.content, p_input ->> 'old_str', coalesce(p_input ->> 'new_str', ''),
      (select v.content from memory_versions v where v.file_id = v_done.file_id and v.version = v_done.version - 1))
    when 'insert' then format('The file %s has been edited.', p_path)
    when 'delete' then format('Successfully deleted %s', p_path)
    else format('Successfully renamed %s to %s', p_path, p_input ->> 'new_path') end;
end
$$;

comment on function _memory_done(memory_hand, text, text, jsonb) is 'The earlier answer to a command that was already run with its key. Raises WL006: the key was used for another command.';

create or replace function _memory_edited(p_content text, p_old text, p_new text, p_before text)
  returns text
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select E'The memory file has been edited. Here is the snippet showing the change (with line numbers):\n'
         || _memory_numbered(_memory_lines(p_content), l.n - 2, l.n + 1 + cardinality(_memory_lines(p_new)))
    from (select coalesce(cardinality(string_to_array(left(p_before, strpos(p_before, p_old)), E'\n')), 1) as n) l;
$$;

comment on function _memory_edited(text, text, text, text) is 'What str_replace answers, from a note after and before it.';

create or replace function _memory_word(p_input jsonb, p_key text)
  returns text
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if jsonb_typeof(p_input -> p_key) is distinct from 'string' then
    perform _raise_invalid(format('Parameter `%s` is required for command: %s', p_key, p_input ->> 'command'));
  end if;
  return p_input ->> p_key;
end
$$;

comment on function _memory_word(jsonb, text) is 'A text that a command of the memory needs. Raises WL002.';

create or replace function _raise_no_memory(p_path text, p_end text default '')
  returns void
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  raise exception using errcode = 'WL001', message = format('The path %s does not exist%s', p_path, p_end);
end
$$;

comment on function _raise_no_memory(text, text) is 'Raises WL001: there is no such note.';

create or replace function _memory_create(p_hand memory_hand, p_path text, p_text text)
  returns text
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if p_path = '/memories' or (_memory_file(p_hand.project, p_path)).id is not null or exists (select from _memory_below(p_hand.project, p_path)) then
    raise exception using errcode = 'WL006', message = format('File %s already exists', p_path);
  end if;
  perform _memory_store(p_hand, _memory_new(p_hand.project, p_path), 'create', p_path, p_text);
  return format('File created successfully at: %s', p_path);
end
$$;

comment on function _memory_create(memory_hand, text, text) is 'Command create. Raises WL002, WL006, WL009.';

create or replace function _memory_str_replace(p_hand memory_hand, p_path text, p_old text, p_new text)
  returns text
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_file memory_files := _memory_file(p_hand.project, p_path);
  v_before integer := v_file.version;
  v_content text := _memory_content(v_file);
  v_new text;
  v_at integer := strpos(v_content, p_old);
  v_lines integer[] := '{}';
  v_line integer;
  v_seen integer;
begin
  if v_file.id is null then
    perform _raise_no_memory(p_path, '. Please provide a valid path.');
  elsif p_old = '' or v_at = 0 then
    perform _raise_invalid(format('No replacement was performed, old_str `%s` did not appear verbatim in %s.', p_old, p_path));
  end if;
  while v_at > 0 and cardinality(v_lines) < 100 loop
    v_line := cardinality(string_to_array(left(v_content, v_at), E'\n'));
    v_lines := v_lines || v_line;
    v_at := coalesce(v_at + nullif(strpos(substr(v_content, v_at + 1), p_old), 0), 0);
  end loop;
  if cardinality(v_lines) > 1 then
    perform _raise_invalid(format('No replacement was performed. Multiple occurrences of old_str `%s` in lines: %s. Please ensure it is unique',
      p_old, (select string_agg(distinct_line::text, ', ' order by distinct_line) from (select distinct unnest(v_lines) as distinct_line) d)));
  end if;
  -- The replaced text occurs exactly once in the newest version, whoever wrote it: what others changed elsewhere stays.
  v_at := strpos(v_content, p_old);
  v_new := left(v_content, v_at - 1) || p_new || substr(v_content, v_at + length(p_old));
  v_seen := (select s.version from memory_views s where s.file_id = v_file.id and s.reader = p_hand.reader);
  v_file := _memory_store(p_hand, v_file, 'str_replace', p_path, v_new);
  -- As stored, that is without secrets.
  return _memory_edited(_memory_content(v_file), p_old, p_new, v_content)
    || case when v_seen < v_before then E'\nOthers changed this file since you viewed it; your edit is in its newest version.' else '' end;
end
$$;

comment on function _memory_str_replace(memory_hand, text, text, text) is 'Command str_replace. Raises WL001, WL002, WL009.';

create or replace function _memory_insert(p_hand memory_hand, p_path text, p_line text, p_text text)
  returns text
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_file memory_files := _memory_file(p_hand.project, p_path);
  v_lines text[] := _memory_lines(_memory_content(v_file));
  v_line integer;
begin
  if v_file.id is null then
    perform _raise_no_memory(p_path);
  elsif coalesce(p_line, '') !~ '^\d{1,9}(\.0+)?$' or p_line::numeric > cardinality(v_lines) then
    perform _raise_invalid(format('Invalid `insert_line` parameter: %s. It should be within the range of lines of the file: [0, %s]',
      _one_line(p_line, 60), cardinality(v_lines)));
  end if;
  v_line := p_line::numeric;
  -- If others changed the file, a line number means another line; only the beginning of the file (line 0) stays where it was.
  perform _memory_fresh(p_hand, v_file) where v_line > 0;
  perform _memory_store(p_hand, v_file, 'insert', p_path,
    array_to_string(v_lines[:v_line] || regexp_replace(p_text, '\n$', '') || v_lines[v_line + 1:], E'\n'));
  return format('The file %s has been edited.', p_path);
end
$$;

comment on function _memory_insert(memory_hand, text, text, text) is 'Command insert. Raises WL001, WL002, WL008, WL009.';

create or replace function _memory_delete(p_hand memory_hand, p_path text)
  returns text
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_file memory_files;
begin
  foreach v_file in array _memory_files_at(p_hand, p_path, 'delete') loop
    perform _memory_unpinned(v_file), _memory_fresh(p_hand, v_file), _memory_store(p_hand, v_file, 'delete', v_file.path, null);
  end loop;
  return format('Successfully deleted %s', p_path);
end
$$;

comment on function _memory_delete(memory_hand, text) is 'Command delete: a file, or a folder with all that is in it. Raises WL001, WL002, WL008.';

create or replace function _memory_rename(p_hand memory_hand, p_path text, p_to text)
  returns text
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_files memory_files[] := _memory_files_at(p_hand, p_path, 'rename');
  v_file memory_files;
begin
  if starts_with(p_to, p_path || '/') then
    perform _raise_invalid(format('Cannot rename %s into itself', p_path));
  elsif p_to = '/memories' or (_memory_file(p_hand.project, p_to)).id is not null or exists (select from _memory_below(p_hand.project, p_to)) then
    raise exception using errcode = 'WL006', message = format('The destination %s already exists', p_to);
  elsif exists (select from memory_files f where f.project = p_hand.project and not f.is_deleted and starts_with(p_to, f.path || '/')) then
    perform _raise_invalid(format('The destination %s is below a file', p_to));
  end if;
  foreach v_file in array v_files loop
    perform _memory_unpinned(v_file),
            _memory_store(p_hand, v_file, 'rename', _memory_path(p_to || substr(v_file.path, length(p_path) + 1)), _memory_content(v_file));
  end loop;
  return format('Successfully renamed %s to %s', p_path, p_to);
end
$$;

comment on function _memory_rename(memory_hand, text, text) is 'Command rename: of a file or a folder; it never overwrites. Raises WL001, WL002, WL006, WL008.';

create or replace function _memory_files_at(p_hand memory_hand, p_path text, p_command text)
  returns memory_files[]
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_file memory_files := _memory_file(p_hand.project, p_path);
  v_files memory_files[] := case when v_file.id is null then array(select f from _memory_below(p_hand.project, p_path) f) else array[v_file] end;
begin
  if p_path = '/memories' then
    perform _raise_invalid(format('Cannot %s the /memories directory itself', p_command));
  elsif v_files = '{}' then
    perform _raise_no_memory(p_path);
  end if;
  return v_files;
end
$$;

comment on function _memory_files_at(memory_hand, text, text) is
  'The file at a path, or all in the folder there: what a command moves or takes away. Raises WL001, WL002 (/memories itself).';

create or replace function _memory_unpinned(p_file memory_files)
  returns void
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if p_file.pinned_at is not null then
    raise exception using errcode = 'WL008', message = format('File %s is pinned by %s, and stays where it is', p_file.path, p_file.pinned_by),
      hint = 'A person has to unpin it first: memory_pin(path, false). It can still be edited.';
  end if;
end
$$;

comment on function _memory_unpinned(memory_files) is 'Refuses to remove a note that a person pinned. Raises WL008.';
