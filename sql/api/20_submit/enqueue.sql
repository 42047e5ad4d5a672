-- A job only says "look at this item"; the work item is the truth. So a lost, duplicate or late job does no harm.

create or replace function _enqueue(p_work_item_id uuid)
  returns boolean
  language plpgsql
  volatile
  -- Everyone who may submit must be able to add the job, but only the owner of graphile-worker's schema has access to it.
  security definer
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items;
  v_focus foci;
begin
  if to_regnamespace('graphile_worker') is null
    or not has_schema_privilege('graphile_worker', 'usage') then
    return false;
  end if;
  select * into v_item from work_items w where w.id = p_work_item_id and w.state in ('queued', 'claimed', 'running', 'waiting');
  if not found then
    return false;
  end if;
  select * into v_focus from foci where id = v_item.focus_id;
  perform graphile_worker.add_job(
    identifier => _job_task_for(v_item),
    payload => json_build_object('work_item_id', v_item.id),
    run_at => case v_item.state when 'waiting' then _now() else v_item.run_at end,
    job_key => format('%s:%s:%s:%s', _job_task(), v_item.id, coalesce(v_focus.attempt, v_item.attempts + 1), coalesce(v_focus.iteration, 0) + 1),
    priority => _job_priority(v_item.priority));
  return true;
end
$$;

comment on function _enqueue(uuid) is
  'Adds the job that drives the next iteration of a runnable work item. The job''s key names the iteration, so enqueueing twice is harmless. Returns whether a job was added: not for an item that is not runnable, nor where graphile-worker is not installed; there the sweep of the first worker to start enqueues the item.';

create or replace function _enqueue_all(p_work_item_ids uuid[], p_faculties text[] default '{}')
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  -- Others wait for a locked job row, so jobs are added in order of id, after everything else.
  perform _enqueue(i.id)
     from (select unnest(p_work_item_ids) as id union select _slot_next(f) from unnest(p_faculties) f order by id) i
    where i.id is not null;
end
$$;

comment on function _enqueue_all(uuid[], text[]) is
  'Enqueues these work items and, of each faculty in p_faculties (references), which have a slot free again, the most urgent queued item. The last statement of a function that enqueues more than one item: nothing is locked after it. Nulls are ignored.';

create or replace function _slot_next(p_faculty text, p_but uuid default null)
  returns uuid
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select _queued_for(p_faculty, p_but, 1);
$$;

comment on function _slot_next(text, uuid) is 'The most urgent queued item of a faculty, given by its reference, other than p_but; null: there is none.';

create or replace function _job_priority(p_priority integer)
  returns integer
  language sql
  immutable
  parallel safe
  return -least(greatest(p_priority, -32767), 32767);

comment on function _job_priority(integer) is 'The priority of a job for a work item of this priority; to graphile-worker, lower is more urgent.';

create or replace function _queued_for(p_faculty text, p_but uuid, p_limit integer, p_above integer default null)
  returns setof uuid
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with found(id, priority, run_at) as (
    select q.* from _names_of(p_faculty) n
     cross join lateral (
       select w.id, w.priority, w.run_at
         from work_items w
        where w.state = 'queued' and w.focus_id is null
          and coalesce(w.project, '') = n.project and (w.faculty is not null) = n.is_asked_for and coalesce(w.faculty, w.work_type) = n.name
          and w.run_at <= _now() and w.id is distinct from p_but and (p_above is null or w.priority > p_above)
        order by w.priority desc, w.run_at, w.id
        limit p_limit) q
    union all
    -- Between two iterations, or after a wait: the faculty is the attempt's.
    (select w.id, w.priority, w.run_at
       from _faculty_by_ref(p_faculty) b
       join work_items w on w.state = 'queued' and w.focus_id is not null
       join foci f on f.id = w.focus_id and f.faculty = b.name
       join faculties c on c.content_hash = f.faculty_hash and c.project is not distinct from b.project
      where w.run_at <= _now() and w.id is distinct from p_but and (p_above is null or w.priority > p_above)
      order by w.priority desc, w.run_at, w.id
      limit p_limit)
  )
  select id from found order by priority desc, run_at, id limit p_limit;
$$;

comment on function _queued_for(text, uuid, integer, integer) is 'The p_limit most urgent queued items that are due for a faculty, given by its reference: requested by name, of a work type that it accepts, or in the middle of an attempt. Without p_but; with p_above, only those of a higher priority. Items queued for other faculties are not read, however many there are.';

create or replace function _names_of(p_faculty text)
  returns table (project text, is_asked_for boolean, name text)
  language plpgsql
  stable
  rows 5
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_faculty faculties := _faculty_by_ref(p_faculty);
begin
  if v_faculty.name is null then
    return;
  end if;
  -- A project's faculty gets the work of its project under all of the project's names. A faculty of the ledger gets what no faculty of the project accepts.
  return query
    select p.project, n.is_asked_for, n.name
      from (select true, v_faculty.name
            union all
            select false, t.work_type from jsonb_array_elements_text(v_faculty.config -> 'accepts') t(work_type)) n(is_asked_for, name)
     cross join (select unnest(_project_names(v_faculty.project)) where v_faculty.project is not null
                 union all
                 select * from _projects_queued() where v_faculty.project is null) p(project)
     where (_faculty_for(case when n.is_asked_for then n.name end, n.name, _project_now(nullif(p.project, '')))).content_hash = v_faculty.content_hash;
end
$$;

comment on function _names_of(text) is 'The names under which items without an attempt reach a faculty, in each project with queued items (empty: in none): its own name, if requested, and the work types that it is the first to accept. The index work_items_routed has all three.';

create or replace function _projects_queued()
  returns setof text
  language sql
  stable
  rows 10
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with recursive found(project) as (
    (select coalesce(w.project, '') from work_items w where w.state = 'queued' and w.focus_id is null order by 1 limit 1)
    union all
    select n.* from found f
     cross join lateral (
       select coalesce(w.project, '') from work_items w
        where w.state = 'queued' and w.focus_id is null and coalesce(w.project, '') > f.project
        order by 1
        limit 1) n
  )
  select project from found;
$$;

comment on function _projects_queued() is 'The projects of queued items without an attempt, by their current names, each once; empty: none. It skips through an index from one to the next.';

create or replace function _names_queued()
  returns table (project text, is_asked_for boolean, name text)
  language sql
  stable
  rows 10
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with recursive found(project, is_asked_for, name) as (
    (select coalesce(w.project, ''), w.faculty is not null, coalesce(w.faculty, w.work_type)
       from work_items w
      where w.state = 'queued' and w.focus_id is null
      order by 1, 2, 3
      limit 1)
    union all
    select n.* from found f
     cross join lateral (
       select coalesce(w.project, ''), w.faculty is not null, coalesce(w.faculty, w.work_type)
         from work_items w
        where w.state = 'queued' and w.focus_id is null
          and (coalesce(w.project, ''), (w.faculty is not null), coalesce(w.faculty, w.work_type)) > (f.project, f.is_asked_for, f.name)
        order by 1, 2, 3
        limit 1) n
  )
  select * from found;
$$;

comment on function _names_queued() is 'The names under which queued items without an attempt are to reach faculties, with their project (empty: none), each once. It skips through an index from one to the next.';
