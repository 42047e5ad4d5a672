-- Decides whether a worker continues with its item or gives it back for something else.

create or replace function _goes_on(p_item work_items, p_focus foci, p_driven_seconds double precision)
  returns boolean
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_tasks text[];
  v_waits integer;
begin
  if p_driven_seconds is null or p_item.is_pausing then
    return false;
  end if;
  select _worker_tasks(o)
    into v_tasks
    from (select _item_hosts(p_item) as hosts offset 0) i -- the faculty may name other hosts by now
    left join workers o on o.id = p_focus.lease_owner
   where _may_drive(p_item, i.hosts, o)
         -- Another worker may now keep the tree for itself, or this one may have stopped keeping it.
     and (select k.tree_id from workers k where k.tree_id = p_item.root_id and _may_drive(p_item, i.hosts, k) limit 1) is not distinct from o.tree_id;
  if not found then
    return false;
  end if;
  v_waits := _job_waiting(v_tasks);
  return v_waits is null or v_waits > _job_priority(p_item.priority) or (v_waits = _job_priority(p_item.priority) and p_driven_seconds < 10);
end
$$;

comment on function _goes_on(work_items, foci, double precision) is
  'Whether the worker that drives an item may continue with its next iteration after driving it for this long. Not if the item is to pause or the worker may no longer drive it, if a more urgent job waits for the worker, or, after 10 seconds, an equally urgent one.';

create or replace function _job_waiting(p_tasks text[])
  returns integer
  language plpgsql
  volatile
  security definer -- as in _enqueue(): reads graphile-worker's jobs
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if to_regnamespace('graphile_worker') is null or not has_schema_privilege('graphile_worker', 'usage') then
    return null;
  end if;
  return (
    select j.priority
      from graphile_worker._private_jobs j
     where j.is_available and j.run_at <= now()
       and j.task_id = any (array(select t.id from graphile_worker._private_tasks t where t.identifier = any (p_tasks)))
     order by j.priority, j.run_at
     limit 1);
end
$$;

comment on function _job_waiting(text[]) is 'The priority of the most urgent job that waits under these task identifiers; lower is more urgent. Null: none waits.';

revoke execute on function _job_waiting(text[]) from public;
