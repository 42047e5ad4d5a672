-- Decides where an item may be driven and by which workers: on the hosts of its faculty, at the Docker daemon that has its files, by workers that serve its
-- project. Its job goes to live workers among these; if every worker may drive the item, its job is for all of them.

create or replace function _item_hosts(p_item work_items)
  returns text[]
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  -- Checked first, since it costs next to nothing if no faculty names hosts: the index contains only faculties that do.
  if not exists (select from faculties where is_current and config -> 'hosts' <> '[]') then
    return null;
  end if;
  return nullif(array(select jsonb_array_elements_text((_faculty_now(p_item)).config -> 'hosts')), '{}');
end
$$;

comment on function _item_hosts(work_items) is 'The hosts of the faculty of an item, as it is now; null: any.';

create or replace function _serves(p_worker workers, p_project text)
  returns boolean
  language sql
  stable
  return p_worker.project is null or p_project is null or p_worker.project = p_project or _project_now(p_worker.project) = _project_now(p_project);

comment on function _serves(workers, text) is 'Whether a worker drives work of a project (null: of none). A worker of one project drives that project''s work and work of none; any other worker drives all.';

create or replace function _may_drive(p_item work_items, p_hosts text[], p_worker workers)
  returns boolean
  language sql
  stable
  return (p_hosts is null or coalesce(p_worker.host = any (p_hosts), false))
    and (p_item.workspace_daemon is null or p_item.workspace_daemon is not distinct from p_worker.daemon)
    and _serves(p_worker, p_item.project);

comment on function _may_drive(work_items, text[], workers) is 'Whether a worker serves the project of an item and is where it may be driven. p_hosts: _item_hosts(). A worker that never sent a heartbeat is nowhere, and serves all.';

create or replace function _worker_for(p_item work_items, p_hosts text[])
  returns workers
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  -- Prefers workers for only this work to those that serve all. Hashing keeps an item on its host while that lives, and spreads items over all hosts.
  select k
    from workers k
   where (k.tree_id is null or k.tree_id = p_item.root_id) and _may_drive(p_item, p_hosts, k)
   order by k.tree_id, (k.project is null) <> (p_item.project is null), md5(concat_ws(E'\n', p_item.id || k.host, k.project)), k.id
   limit 1;
$$;

comment on function _worker_for(work_items, text[]) is 'A living worker that may drive an item: the one that keeps its tree, if any, else one of those that its job goes to. Null: none is alive.';

create or replace function _job_task(p_for text default null)
  returns text
  language sql
  stable
  return concat_ws('/', _ledger_schema(), 'engage', p_for);

comment on function _job_task(text) is
  'graphile-worker''s task identifier for the engage jobs of all workers that serve all projects, or with p_for, of some: the worker that keeps a tree, those of a project, those on a host. It contains the schema, so that the workers of one ledger never take the jobs of another ledger in the same database.';

create or replace function _job_task_at(p_host text, p_project text default null)
  returns text
  language sql
  stable
  return _job_task('host:' || md5(concat_ws(E'\n', p_host, p_project))); -- an identifier has at most 128 characters

comment on function _job_task_at(text, text) is 'The task identifier of jobs for the workers of a host, of those that serve a project, or all (null).';

create or replace function _worker_task(p_worker workers, p_is_bound boolean)
  returns text
  language sql
  stable
  return case when p_worker.tree_id is not null then _job_task(p_worker.tree_id::text)
              when p_is_bound then _job_task_at(p_worker.host, p_worker.project)
              else _job_task('project:' || md5(p_worker.project)) end;

comment on function _worker_task(workers, boolean) is 'The task identifier of jobs for a worker and others like it. p_is_bound: for those on its host only. It has the worker''s project as it was called when the worker started.';

create or replace function _worker_tasks(p_worker workers)
  returns text[]
  language sql
  stable
  return array[_worker_task(p_worker, false), _worker_task(p_worker, true)];

comment on function _worker_tasks(workers) is 'The task identifiers that a worker looks for: that of the tree which it keeps, else those for all that serve its project, or all projects, and for those of them on its host. runtime/worker/runner.ts computes the same.';

create or replace function _job_task_for(p_item work_items)
  returns text
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_hosts text[] := _item_hosts(p_item);
  v_is_bound boolean := v_hosts is not null or p_item.workspace_daemon is not null;
  v_worker workers;
begin
  -- Usually every worker may drive every item, and none has to be chosen.
  if v_is_bound or exists (select from workers where project is not null) then
    v_worker := _worker_for(p_item, v_hosts);
    if v_worker.id is not null then
      return _worker_task(v_worker, v_is_bound);
    end if;
  end if;
  -- Any live worker will do: it is told that it may not drive the item, which then waits and says for what.
  select * into v_worker from workers k where k.tree_id = p_item.root_id or k.tree_id is null order by k.tree_id, k.project nulls first, k.id limit 1;
  return _worker_task(v_worker, false);
end
$$;

comment on function _job_task_for(work_items) is
  'The task identifier of an item''s job. It is for the worker that keeps its tree, while that worker lives; else for the workers of its project, if any, and of a host, if not every host may drive it; else for all workers. If no living worker may drive it, the job goes to another worker, which focus_claim() tells so: this way the item says what it waits for.';

create or replace function _will_be_seen(p_item work_items, p_task text)
  returns boolean
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_hosts text[] := _item_hosts(p_item);
begin
  return not exists (select from workers k where k.tree_id = p_item.root_id)
           and exists (select from workers k where k.tree_id is null and p_task = any (_worker_tasks(k)) and _may_drive(p_item, v_hosts, k))
         or p_task = _job_task_for(p_item);
end
$$;

comment on function _will_be_seen(work_items, text) is 'Whether a worker that may drive an item looks for its job under this task identifier, or no living worker could.';
