-- The job row is a doorbell, the work item is the truth: a lost, doubled or late job does no harm.

create or replace function _job_task(p_tree_id uuid default null)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select concat_ws('/', _ledger_schema(), 'engage', (select k.tree_id from workers k where k.tree_id = p_tree_id limit 1));
$$;

comment on function _job_task(uuid) is
  'graphile-worker''s identifier of the engage job for the items of a tree. It names the schema, so that the workers of one ledger never take up the jobs of another one in the same database, and the tree, while a worker lives that keeps it for itself.';

create or replace function _enqueue(p_work_item_id uuid)
  returns boolean
  language plpgsql
  volatile
  -- Whoever may submit must be able to ring; graphile-worker's schema is open to its owner only.
  security definer
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item record;
begin
  if to_regnamespace('graphile_worker') is null
    or not has_schema_privilege('graphile_worker', 'usage') then
    return false;
  end if;
  select w.id, w.priority, case w.state when 'waiting' then _now() else w.run_at end as run_at, coalesce(f.attempt, w.attempts + 1) as attempt, coalesce(f.iteration, 0) + 1 as iteration, w.root_id
    into v_item
    from work_items w
    left join foci f on f.id = w.focus_id
   where w.id = p_work_item_id and w.state in ('queued', 'claimed', 'running', 'waiting');
  if not found then
    return false;
  end if;
  perform graphile_worker.add_job(
    identifier => _job_task(v_item.root_id),
    payload => json_build_object('work_item_id', v_item.id),
    run_at => v_item.run_at,
    job_key => format('%s:%s:%s:%s', _job_task(), v_item.id, v_item.attempt, v_item.iteration),
    priority => -least(greatest(v_item.priority, -32767), 32767));
  return true;
end
$$;

comment on function _enqueue(uuid) is
  'Adds the job that drives the next iteration of a runnable work item (one key for each iteration, so that ringing twice is harmless). False where graphile-worker is not installed: the sweeper of the first worker to start rings then.';

create or replace function _enqueue_all(p_work_item_ids uuid[], p_faculties text[] default '{}')
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  -- A job row is a lock that others wait for: in order of id, and after everything else.
  perform _enqueue(i.id)
     from (select unnest(p_work_item_ids) as id union select _slot_next(f) from unnest(p_faculties) f order by id) i
    where i.id is not null;
end
$$;

comment on function _enqueue_all(uuid[], text[]) is
  'Enqueues these work items, and of each faculty that gave a place back the most urgent that is queued. Last statement of whoever enqueues more than one: nothing is locked after it. Nulls stand for none.';

create or replace function work_keep(
    p_work_item_id uuid,
    p_worker_id text,
    p_host text default '',
    p_pid integer default 0)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_root_id uuid := (select root_id from work_items where id = p_work_item_id);
begin
  if v_root_id is null then
    perform _raise_not_found('work item', p_work_item_id);
  end if;
  perform lease_renew(p_worker_id, '{}', p_host, p_pid, v_root_id);
  perform _tree_enqueue(v_root_id);
end
$$;

comment on function work_keep(uuid, text, text, integer) is
  'Keeps the tree of a work item, with what will be delegated in it, for one worker: as long as that one lives, by lease_renew(), jobs of the tree are for it alone. When it stops or dies the other workers are told. Raises WL001.';

create or replace function _tree_enqueue(p_tree_id uuid)
  returns void
  language sql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select _enqueue(w.id)
    from (select id from work_items
           where root_id = p_tree_id and state in ('queued', 'claimed', 'running') and lease_token is null
           order by id) w;
$$;

comment on function _tree_enqueue(uuid) is 'Rings for what is to be done in a tree, as the job that its workers look for now. What waits is found by the sweeper.';
