-- Cleans up after graphile-worker: jobs that will never run, locks of dead workers, task identifiers of finished trees.

create or replace function _job_tasks()
  returns text[]
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_task text := _job_task();
begin
  return array(select t.identifier from graphile_worker._private_tasks t where t.identifier = v_task or starts_with(t.identifier, v_task || '/'));
end
$$;

comment on function _job_tasks() is 'The task identifiers under which graphile-worker has or had jobs of this ledger. A job belongs to this ledger if its identifier is among them.';

create or replace function _dead_jobs(p_ids bigint[] default null)
  returns bigint[]
  language plpgsql
  stable
  security definer -- as in _enqueue(): reads graphile-worker's jobs
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_tasks text[];
begin
  if to_regnamespace('graphile_worker') is null or not has_schema_privilege('graphile_worker', 'usage') then
    return '{}';
  end if;
  v_tasks := _job_tasks();
  return array(
    select id from graphile_worker.jobs
     where (p_ids is null or id = any (p_ids))
       and task_identifier = any (v_tasks)
       and locked_at is null and attempts >= max_attempts
     order by id
     limit 1000);
end
$$;

comment on function _dead_jobs(bigint[]) is 'Unlocked jobs of this ledger that have no attempts left, at most 1,000, of all jobs or of these: a dead worker left them behind after another job had taken over their key.';

revoke execute on function _dead_jobs(bigint[]) from public;

create or replace function _jobs_tidy(p_worker_timeout interval)
  returns void
  language plpgsql
  volatile
  security definer -- as in _enqueue(): writes to graphile-worker's tables
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_tasks text[];
  v_ids bigint[];
  v_seen text[];
  v_lost bigint[];
begin
  if to_regnamespace('graphile_worker') is null or not has_schema_privilege('graphile_worker', 'usage') then
    return;
  end if;
  v_tasks := _job_tasks();
  v_ids := array(
    select id from graphile_worker.jobs
     where id > coalesce((select s.job_id from sweep_walks s where s.walk = 'jobs'), 0)
     order by id
     limit 1000);
  insert into sweep_walks (walk, job_id) values ('jobs', v_ids[1000]) on conflict (walk) do update set job_id = excluded.job_id;
  perform graphile_worker.complete_jobs(_dead_jobs(v_ids));
  -- Jobs for finished work: a worker would find nothing to do, but no live worker looks for jobs under their identifiers.
  v_seen := array(select unnest(_worker_tasks(k)) from workers k);
  if v_seen <> '{}' and not v_tasks <@ v_seen then
    perform graphile_worker.complete_jobs(array(
      select p.id
        from graphile_worker._private_jobs p
        join graphile_worker._private_tasks t on t.id = p.task_id
       where p.id = any (v_ids) and p.locked_at is null and t.identifier = any (v_tasks) and t.identifier <> all (v_seen)
         and case when _is_uuid(p.payload ->> 'work_item_id')
                  then not exists (select from work_items w where w.id = (p.payload ->> 'work_item_id')::uuid and w.resolved_at is null) end));
  end if;
  -- Jobs whose row was locked when their worker signed off.
  v_lost := array(
    select j.id from graphile_worker.jobs j
     where j.id = any (v_ids) and j.locked_at < _now() - p_worker_timeout and j.locked_by <> all (array(select k.id from workers k))
       and j.task_identifier = any (v_tasks));
  if v_lost <> '{}' then
    update graphile_worker._private_jobs
       set locked_at = null, locked_by = null
     where id in (select p.id from graphile_worker._private_jobs p where p.id = any (v_lost) order by p.id for no key update skip locked);
  end if;
  -- Task identifiers of finished trees that nobody keeps any more: graphile-worker stores a row for each.
  delete from graphile_worker._private_tasks t
   where t.identifier = any (v_tasks) and t.identifier <> _job_task()
     -- Those of hosts and projects are few and stay: a worker that is starting there may have read the row's id, which it reads only once.
     and not starts_with(t.identifier, _job_task('host:')) and not starts_with(t.identifier, _job_task('project:'))
     and not exists (select from workers k where k.tree_id is not null and t.identifier = _job_task(k.tree_id::text))
     -- A worker that keeps an unfinished tree may only have been suspended: it comes back and looks for jobs under the row id that it knows.
     and not exists (
       select from (select substr(t.identifier, length(_job_task('')) + 1) as tree) k
         join work_items w on w.id = case when _is_uuid(k.tree) then k.tree::uuid end
        where w.resolved_at is null)
     and not exists (select from graphile_worker.jobs j where j.task_identifier = t.identifier);
end
$$;

comment on function _jobs_tidy(interval) is 'Cleans up what graphile-worker would not, or only after hours. Of the next 1,000 jobs, it deletes those that will not run, and those of finished work if no living worker looks for them, and unlocks those held for p_worker_timeout by a worker that no longer exists. It also deletes task identifiers that are no longer in use.';

revoke execute on function _jobs_tidy(interval) from public;
