-- Projects: names for where work is. Items keep the name they were submitted with, and the current name is looked up. So a project can be
-- renamed, or merged into another, without changing any item.

create or replace function _project_now(p_project text)
  returns text
  language sql
  stable
begin atomic
  select coalesce((select p.renamed_to from projects p where p.name = p_project), p_project);
end;

comment on function _project_now(text) is 'The name that a project has today. Null for null.';

create or replace function _project_names(p_project text)
  returns text[]
  language sql
  stable
begin atomic
  select array(select p.name from projects p where p.renamed_to = _project_now(p_project)) || _project_now(p_project);
end;

comment on function _project_names(text) is 'All names by which items of a project were submitted. {null} for null.';

create or replace function _project_and_none(p_project text)
  returns text[]
  language sql
  stable
begin atomic
  select array_remove(_project_names(nullif(p_project, '')), null) || ''::text;
end;

comment on function _project_and_none(text) is
  'What work_items.project is ('''' for null) of all that belongs to a project: its names, and none. For null and '''': none alone. The only place that says so.';

create or replace function project_has(p_project text, p_of text)
  returns boolean
  language sql
  stable
begin atomic
  select p_project is null or coalesce(p_of, '') = any (_project_and_none(p_project));
end;

comment on function project_has(text, text) is
  'Whether work belongs to what is looked at: select * from v_work_list where project_has(''github.com/acme/shop'', project). p_project: any name of a project: work of it and of none; '''': work of none; null: all. p_of: the project of the work, by any of its names. Of much work the newest are found by index with project_names().';

create or replace function _project_problem(p_project text)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select case when p_project !~ '\S' or char_length(p_project) > 500 or p_project <> _spaced(p_project)
                then 'the name of a project must have 1 to 500 characters on one line, without blanks at either end'
              when p_project ~ '^[^/]*:[^/]*@|://' or _redacted(p_project) <> p_project then 'the name of a project must not contain a password' end;
$$;

comment on function _project_problem(text) is 'Why this cannot be the name of a project; null: it can, or is null.';

create or replace function _project_check(p_project text)
  returns text
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_problem text := _project_problem(p_project);
begin
  if v_problem is not null then
    perform _raise_invalid(v_problem,
      'Use a name such as github.com/acme/shop, without scheme and user, or a directory; pass null for work without a project.');
  end if;
  return _project_now(p_project);
end
$$;

comment on function _project_check(text) is 'The name that a project has today, if it can be one; null for null. Raises WL002.';

create or replace function project_name(p_project text)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select _project_check(p_project);
$$;

comment on function project_name(text) is
  'The name that a project has today: select project_name(''/home/me/shop'') after project_rename(''/home/me/shop'', ''github.com/acme/shop''). Any name may be one; null for null. Raises WL002.';

create or replace function project_names(p_project text)
  returns text[]
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select case when p_project is not null then _project_and_none(nullif(_project_check(nullif(p_project, '')), '')) end;
$$;

comment on function project_names(text) is
  'What stored_project of views is of work that project_has() finds, so that an index finds it: select * from v_work_list where stored_project = any (project_names(''github.com/acme/shop'')). p_project: any name of a project: its names and '''' (work of none); '''': '''' alone; null: null. Raises WL002.';
