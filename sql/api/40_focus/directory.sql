-- The directory on the worker's host in which an item is done, and who named it, so that the worker can decide whether it serves it.

create or replace function _directory_named(p_item work_items, p_faculty_hash text)
  returns jsonb
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select jsonb_build_object('path', n.path, 'named_by', n.role, 'is_administered', _administers(n.role))
    from faculties f
    cross join lateral (select coalesce(p_item.workspace_dir, f.config #>> '{engage,workspace_dir}') as path,
                               case when p_item.workspace_dir is not null then p_item.workspace_dir_by else f.saved_by end as role) n
   where f.content_hash = p_faculty_hash and n.path is not null;
$$;

comment on function _directory_named(work_items, text) is 'The directory of the worker''s host that an item, or else its faculty, specifies: {path, named_by, is_administered}, for the worker to check against what it serves. Null: none.';

create or replace function _at_home(p_config jsonb, p_workspace_dir text)
  returns jsonb
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select case when p_workspace_dir is null then p_config else jsonb_set(p_config, '{engage,workspace_dir}', to_jsonb(p_workspace_dir)) end;
$$;

comment on function _at_home(jsonb, text) is 'The configuration of a faculty with engage.workspace_dir replaced by the item''s workspace_dir, if the item has one.';

create or replace function _session_directory(p_item work_items)
  returns text
  language sql
  immutable
  parallel safe
  return case p_item.work_type when 'journal' then coalesce(p_item.params ->> 'directory', p_item.params ->> 'conversationId') end;

comment on function _session_directory(work_items) is 'Where another program''s session works: the directory that it was opened with, else its conversation, which is a directory for many clients. Null for other work.';

create or replace function _works_in(p_item work_items, p_config jsonb)
  returns text
  language sql
  immutable
  parallel safe
  return coalesce(p_item.workspace_dir, _session_directory(p_item), p_config #>> '{engage,workspace_dir}');

comment on function _works_in(work_items, jsonb) is
  'The directory in which an item is done: its own, that of the session, or that of the faculty whose configuration this is. A container has a copy of it. Null: none.';
