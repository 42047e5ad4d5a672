-- How long workspace files are kept: they are in volumes outside the database, which decides when they may be deleted.

create or replace function workspaces_over(p_work_items uuid[])
  returns setof uuid
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select w.id
    from work_items w
    left join lateral (select faculty_hash from foci where work_item_id = w.id order by attempt desc limit 1) f on true
    left join faculties c on c.content_hash = f.faculty_hash
   where w.id = any (p_work_items)
     and (w.erased_at is not null
       or w.resolved_at + make_interval(hours => coalesce((c.config #>> '{engage,workspace_keep_hours}')::integer, 24)) < _now());
$$;

comment on function workspaces_over(uuid[]) is
  'Those of the given work items whose workspace files may be deleted: erased, or finished at least engage.workspace_keep_hours ago. Unknown ids are never returned, since they may belong to another ledger.';
