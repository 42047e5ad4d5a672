-- Where the files of an item are: in a directory of the worker's host, and whose word that is; or in a volume of one Docker daemon, which the
-- worker names before it makes the volume.

create or replace function workspace_bind(p_work_item_id uuid, p_lease uuid, p_daemon text)
  returns text
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items := _fence(p_work_item_id, p_lease);
begin
  if coalesce(p_daemon, '') !~ '\S' then
    perform _raise_invalid('a Docker daemon needs an id');
  end if;
  perform _check_key('the id of a Docker daemon', p_daemon);
  if v_item.workspace_daemon is null then
    update work_items
       set workspace_daemon = p_daemon,
           workspace_host = coalesce((select k.host from foci f join workers k on k.id = f.lease_owner where f.id = v_item.focus_id), '')
     where id = v_item.id;
  elsif v_item.workspace_daemon <> p_daemon then
    return v_item.workspace_host;
  end if;
  return null;
end
$$;

comment on function workspace_bind(uuid, uuid, text) is
  'Says at which Docker daemon the files of a work item are about to be; a worker calls it before it makes their volume or uses it. From then on the item is driven only by workers of that daemon, those that name it in lease_renew(), in all its attempts; workspace_abandon() undoes it. p_daemon: what identifies the daemon. Returns null: they are there; else nothing is changed, and it returns the host where they are: the caller must not make another volume. Raises WL001, WL002, WL003, WL004, WL005.';

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

comment on function _directory_named(work_items, text) is 'The directory of the worker''s host that an item, or else its faculty, names: {path, named_by, is_administered}, for the worker to check against what it serves. Null: none is named.';

create or replace function _at_home(p_config jsonb, p_workspace_dir text)
  returns jsonb
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select case when p_workspace_dir is null then p_config else jsonb_set(p_config, '{engage,workspace_dir}', to_jsonb(p_workspace_dir)) end;
$$;

comment on function _at_home(jsonb, text) is 'The configuration of a faculty with engage.workspace_dir replaced by the item''s workspace_dir, if the item has one.';
