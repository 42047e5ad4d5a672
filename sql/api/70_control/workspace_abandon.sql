-- Gives up files that nobody will bring back, because the host of their Docker daemon is gone.

create or replace function workspace_abandon(p_work_item_id uuid)
  returns work_items
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items := _open_item(p_work_item_id);
begin
  if v_item.workspace_daemon is null then
    return v_item;
  end if;
  if _is_driven(v_item.id) then
    raise exception using
      errcode = 'WL008',
      message = format('a worker drives work item %s where its files are', v_item.id),
      hint = 'Pause it first, with work_pause(); the lease of a dead worker ends within seconds.';
  end if;
  insert into inbox (work_item_id, kind, content)
  values (v_item.id, 'message', format(
    'The files of your workspace are lost: they were on host "%s", which is given up. You continue with a new workspace, as it was at the very beginning. '
    'Nothing that you wrote there counts as done: check what is there before you rely on it, and redo what is still needed.', v_item.workspace_host));
  if v_item.is_stranded then
    v_item.state := 'queued';
    v_item.state_reason := null;
    v_item.run_at := _now();
  end if;
  v_item.workspace_daemon := null;
  v_item.workspace_host := null;
  v_item := _work_move(v_item, 'workspace_abandon');
  perform _enqueue(v_item.id);
  return v_item;
end
$$;

comment on function workspace_abandon(uuid) is
  'Gives up the files of a work item that are on a Docker daemon which will not come back, and returns the item''s row. The item continues on any worker that may drive it, with a new workspace, and its agent is told that the files are lost. If the daemon does come back, it keeps the old files as long as any others (engage.workspace_keep_hours). An item without such files is not changed. Raises WL001, WL003, WL008 (a worker drives it).';
