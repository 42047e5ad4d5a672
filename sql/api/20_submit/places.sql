-- Where an item may be driven: on the hosts of its faculty, at the Docker daemon that has its files. Its job goes to a living worker's
-- host among these; an item that may be driven anywhere has a job for all workers.

create or replace function _item_hosts(p_item work_items)
  returns text[]
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  -- First, since it costs next to nothing where no faculty names hosts: the index has these faculties only.
  if not exists (select from faculties where is_current and config -> 'hosts' <> '[]') then
    return null;
  end if;
  return (
    select array(select jsonb_array_elements_text(f.config -> 'hosts'))
      from faculties f
     where f.is_current and f.config -> 'hosts' <> '[]'
       and f.name = _faculty_of(p_item));
end
$$;

comment on function _item_hosts(work_items) is 'The hosts of the faculty of an item, as it is now; null: any.';

create or replace function _may_drive(p_item work_items, p_hosts text[], p_worker workers)
  returns boolean
  language sql
  immutable
  parallel safe
  return (p_hosts is null or coalesce(p_worker.host = any (p_hosts), false))
    and (p_item.workspace_daemon is null or p_item.workspace_daemon is not distinct from p_worker.daemon);

comment on function _may_drive(work_items, text[], workers) is 'Whether a worker is where an item may be driven. p_hosts: _item_hosts(). A worker that never sent a heartbeat is nowhere.';

create or replace function _worker_for(p_item work_items, p_hosts text[])
  returns workers
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  -- By hash: an item stays on its host while that lives, and items spread over all of them.
  select k
    from workers k
   where (k.tree_id is null or k.tree_id = p_item.root_id) and _may_drive(p_item, p_hosts, k)
   order by k.tree_id, md5(p_item.id || k.host), k.id
   limit 1;
$$;

comment on function _worker_for(work_items, text[]) is 'A living worker where an item may be driven: one that keeps its tree, if there is, else one of the host to which its job goes. Null: none lives there.';

create or replace function _job_task(p_for text default null)
  returns text
  language sql
  stable
  return concat_ws('/', _ledger_schema(), 'engage', p_for);

comment on function _job_task(text) is
  'graphile-worker''s task identifier of the engage jobs for all workers, or (p_for) of those for some: of the worker that keeps a tree, of a host. It names the schema, so that the workers of one ledger never take the jobs of another ledger in the same database.';

create or replace function _job_task_at(p_host text)
  returns text
  language sql
  stable
  return _job_task('host:' || md5(p_host)); -- an identifier has at most 128 characters

comment on function _job_task_at(text) is 'The task identifier of jobs for the workers of a host.';

create or replace function _worker_tasks(p_worker workers)
  returns text[]
  language sql
  stable
  return case when p_worker.tree_id is not null then array[_job_task(p_worker.tree_id::text)]
              else array_remove(array[_job_task(), _job_task_at(p_worker.host)], null) end;

comment on function _worker_tasks(workers) is 'The task identifiers that a worker looks for: that of the tree which it keeps, else those for all workers and for its host.';

create or replace function _job_task_for(p_item work_items)
  returns text
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_hosts text[] := _item_hosts(p_item);
  v_worker workers;
begin
  if v_hosts is not null or p_item.workspace_daemon is not null then
    v_worker := _worker_for(p_item, v_hosts);
    if v_worker.id is not null then
      return case when v_worker.tree_id is null then _job_task_at(v_worker.host) else _job_task(v_worker.tree_id::text) end;
    end if;
  end if;
  return _job_task((select k.tree_id::text from workers k where k.tree_id = p_item.root_id limit 1));
end
$$;

comment on function _job_task_for(work_items) is
  'The task identifier of the job of an item: for the worker that keeps its tree, as long as that lives; else for a host, if the item may not be driven on all; else for all workers. If no worker lives where it may be driven, whoever claims it is told so, see focus_claim().';
