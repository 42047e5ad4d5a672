-- Records the Docker daemon that has an item's files, which the worker names before it creates their volume.

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
  'Records which Docker daemon the files of a work item are about to be on. A worker calls it before it creates or uses their volume. From then on, in all its attempts, the item is driven only by workers that pass this daemon to lease_renew(); workspace_abandon() undoes it. p_daemon: identifies the daemon. Returns null if the files are on this daemon. Otherwise nothing is changed, and it returns the host where they are: the caller must not create another volume. Raises WL001, WL002, WL003, WL004, WL005.';
