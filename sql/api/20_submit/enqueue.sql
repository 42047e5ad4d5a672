-- The job row is a doorbell, the work item is the truth: a lost, doubled or late job does no harm.

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

create or replace function _slot_next(p_faculty text, p_but uuid default null)
  returns uuid
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select w.id
    from work_items w
    left join foci f on f.id = w.focus_id
   where w.state = 'queued' and w.run_at <= _now() and w.id is distinct from p_but
     and coalesce(f.faculty, (_faculty_for(w.faculty, w.work_type)).name) = p_faculty
   order by w.priority desc, w.run_at, w.id
   limit 1;
$$;

comment on function _slot_next(text, uuid) is 'The most urgent queued item of a faculty; null: there is none.';

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
