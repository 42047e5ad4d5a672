-- Projects: where work is.

create or replace view v_projects with (security_invoker = true) as
  with named as (
    select _project_now(n.name) as name, array_agg(n.name order by n.name) filter (where n.name <> _project_now(n.name)) as earlier_names
      from (select name from _projects_told() where name <> ''
            union
            select name from projects
            union
            select renamed_to from projects where renamed_to is not null
            union
            select project from faculties where is_current and project is not null
            union
            select project from memory_files where project <> '' and not is_deleted) n
     group by 1
  )
  select n.name as project, coalesce(n.earlier_names, '{}') as earlier_names, p.claims, i.items, i.open_items, i.changed_at
    from named n
    left join projects p on p.name = n.name
    -- An aggregate that returns one row, so that the planner leaves it out if only names are selected.
    left join lateral (
     select count(*) as items, count(*) filter (where w.resolved_at is null) as open_items,
            max(coalesce(w.resolved_at, w.started_at, w.created_at)) as changed_at
       from work_items w
      where coalesce(w.project, '') = any (_project_names(n.name))) i on true;
comment on view v_projects is 'Projects that have work, faculties or notes, or that were renamed or have settings. Busiest first: select * from v_projects order by open_items desc. See work_submit() and project_rename().';
comment on column v_projects.project is 'Its current name.';
comment on column v_projects.earlier_names is 'Its other names, from before it was renamed or merged.';
comment on column v_projects.claims is 'Its setting for claims: off, warn or refuse; null: as each faculty says.';
comment on column v_projects.items is 'Number of its work items.';
comment on column v_projects.open_items is 'Number of its work items that are not over.';
comment on column v_projects.changed_at is 'When one of them was last submitted, began or ended.';
