-- Project settings.

create or replace function project_set(p_project text, p_claims text)
  returns projects
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_name text := _project_check(p_project);
  v_project projects;
begin
  if v_name is null then
    perform _raise_invalid('a setting needs a project', 'Pass its name.');
  elsif p_claims is not null then
    perform _check_word('a setting for claims', p_claims, '{off,warn,refuse}');
  end if;
  perform _lock('projects');
  insert into projects (name, claims) values (_project_now(v_name), p_claims)
  on conflict (name) do update set claims = excluded.claims, updated_at = _now()
  returning * into v_project;
  return v_project;
end
$$;

comment on function project_set(text, text) is
  'Sets what happens in a project to calls that change what others are working on (v_claims), whatever its faculties say: select project_set(''github.com/acme/shop'', ''refuse''). p_project: any of its names; it need not have work yet. p_claims: off, warn, refuse, or null: as each faculty says. Applies from the next call on. Returns the row of the project. Raises WL002.';
