-- Renaming a project, or merging it into another.

create or replace function project_rename(p_project text, p_name text)
  returns projects
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_from text := _project_check(p_project);
  v_to text := _project_check(p_name);
  v_project projects;
begin
  if v_from is null or v_to is null then
    perform _raise_invalid('renaming a project needs its old name and its new one');
  end if;
  perform _lock('projects');
  v_from := _project_now(v_from);
  -- A name that the project had before can be used again; the name of another project merges the two.
  v_to := case when _project_now(p_name) = v_from then p_name else _project_now(p_name) end;
  if not exists (select from work_items where project = any (_project_names(v_from))) and not exists (select from faculties where project = v_from)
    and not exists (select from memory_files where project = v_from) and not exists (select from projects where name = v_from or renamed_to = v_from) then
    raise exception using errcode = 'WL001', message = format('there is no project "%s"', v_from);
  end if;
  if v_to <> v_from then
    update projects set renamed_to = null, updated_at = _now() where name = v_to and renamed_to is not null;
    update projects set renamed_to = v_to, updated_at = _now() where renamed_to = v_from and name <> v_to;
    insert into projects (name, renamed_to) values (v_from, v_to)
    on conflict (name) do update set renamed_to = excluded.renamed_to, updated_at = _now();
    -- Its faculties move with it. If the projects are merged and both have a faculty of the same name, the other project's wins.
    perform _lock('faculties');
    update faculties f set is_current = false
     where f.project = v_from and f.is_current and exists (select from faculties o where o.project = v_to and o.name = f.name and o.is_current);
    update faculties set project = v_to where project = v_from;
    -- Retention policies refer to a project's faculty by the name of the project.
    delete from retention_policies p using retention_policies o
     where p.faculty = split_part(p.faculty, '@', 1) || '@' || v_from and o.faculty = split_part(p.faculty, '@', 1) || '@' || v_to
       and o.state is not distinct from p.state;
    update retention_policies set faculty = split_part(faculty, '@', 1) || '@' || v_to where faculty = split_part(faculty, '@', 1) || '@' || v_from;
    perform _memory_merge(v_from, v_to);
    -- Its settings move with it, unless the new name has its own.
    insert into projects (name, claims) select v_to, p.claims from projects p where p.name = v_from and p.claims is not null
    on conflict (name) do update set claims = coalesce(projects.claims, excluded.claims), updated_at = _now();
    update projects set claims = null where name = v_from and claims is not null;
    perform _daily_rename(v_from, v_to);
  end if;
  select * into v_project from projects where name = case when v_to = v_from then p_project else v_from end;
  return v_project;
end
$$;

comment on function project_rename(text, text) is
  'Renames a project, or merges it into another: select project_rename(''/home/me/shop'', ''github.com/acme/shop''). From now on its work, faculties, workers, awareness and anything later submitted under the old name belong to the new name. No item is changed, so the cost does not depend on how many there are. p_project: any of its names. p_name: the new name. If another project already has it, the two are merged, which cannot be undone: of two faculties with the same name, p_name''s is kept; of two notes with the same path, both are, see memory_command(). Daily budgets move with the project, see daily_budget_set(). Returns the row of the old name. Raises WL001 (no such project), WL002.';

create or replace function _daily_renamed(p_scope text, p_name text, p_from text, p_to text)
  returns text
  language sql
  immutable
  parallel safe
  return case when p_scope = 'project' and p_name = p_from then p_to
              when p_scope = 'faculty' and strpos(p_name, '@') > 0 and substr(p_name, strpos(p_name, '@') + 1) = p_from
                then left(p_name, strpos(p_name, '@')) || p_to
              else p_name end;

comment on function _daily_renamed(text, text, text, text) is 'The name of a project or faculty in daily_budgets once project p_from is called p_to.';

create or replace function _daily_rename(p_from text, p_to text)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  -- Every transaction that draws on daily budgets holds one of these locks. Later ones see all the new names.
  perform from locks where purpose = 'renames' order by place for no key update;
  perform from daily_spending s
    where _daily_renamed(s.scope, s.name, p_from, p_to) <> s.name or _daily_renamed(s.scope, s.name, p_to, p_from) <> s.name
    order by s.scope, s.name, s.resource, s.day for no key update;
  insert into daily_budgets (scope, name, resource, amount, created_at)
  select b.scope, _daily_renamed(b.scope, b.name, p_from, p_to), b.resource, b.amount, b.created_at
    from daily_budgets b
   where _daily_renamed(b.scope, b.name, p_from, p_to) <> b.name
  on conflict do nothing;
  delete from daily_budgets b where _daily_renamed(b.scope, b.name, p_from, p_to) <> b.name;
  insert into daily_spending as s (scope, name, resource, day, spent, reserved)
  select o.scope, _daily_renamed(o.scope, o.name, p_from, p_to), o.resource, o.day, o.spent, o.reserved
    from daily_spending o
   where _daily_renamed(o.scope, o.name, p_from, p_to) <> o.name
  union all
  select b.scope, b.name, b.resource, _today(), 0, 0
    from daily_budgets b
   where _daily_renamed(b.scope, b.name, p_to, p_from) <> b.name and not exists (
     select from daily_spending o
      where _daily_renamed(o.scope, o.name, p_from, p_to) = b.name and o.name <> b.name and (o.scope, o.resource, o.day) = (b.scope, b.resource, _today()))
  on conflict (scope, name, resource, day) do update set spent = s.spent + excluded.spent, reserved = s.reserved + excluded.reserved;
  delete from daily_spending s where _daily_renamed(s.scope, s.name, p_from, p_to) <> s.name;
  perform _daily_count(b.scope, b.name, b.resource, _today()) from daily_budgets b where _daily_renamed(b.scope, b.name, p_to, p_from) <> b.name;
end
$$;

comment on function _daily_rename(text, text) is
  'Moves the daily budgets of a project, and of its faculties, to another name. If both names have one for the same resource, that of p_to is kept, and what both used today counts.';
