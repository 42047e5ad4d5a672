-- Saves a faculty: the design's TOML, as jsonb with every key present.

create or replace function _faculty_check(p_config jsonb)
  returns void
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_problems text[] := array(select says from faculty_problems(p_config));
  v_hint constant text := 'Each key, what it accepts and its default: select * from v_faculty_keys';
begin
  if cardinality(v_problems) = 1 then
    raise exception using errcode = 'WL002', message = v_problems[1], hint = v_hint;
  elsif v_problems <> '{}' then
    raise exception using errcode = 'WL002', message = v_problems[1], detail = array_to_string(v_problems, E'\n'), hint = v_hint;
  end if;
end
$$;

comment on function _faculty_check(jsonb) is 'Raises WL002 if faculty_problems() returns any: the message is the first problem; if there are several, the detail lists all, one a line.';

create or replace function faculty_save(p_config jsonb)
  returns faculties
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_config jsonb;
  v_hash text;
  v_project text;
  v_faculty faculties;
begin
  perform _faculty_check(p_config);
  v_config := _faculty_complete(p_config);
  v_hash := _content_hash(v_config::text);

  perform _lock('faculties');
  v_project := _project_check(nullif(v_config ->> 'project', '')); -- under the lock, which renaming a project takes as well
  update faculties set is_current = false
   where name = v_config ->> 'name' and project is not distinct from v_project and is_current and content_hash <> v_hash;
  insert into faculties (content_hash, name, config, saved_by, project)
  values (v_hash, v_config ->> 'name', v_config, session_user, v_project)
  on conflict (content_hash) do update
     set is_current = true, project = excluded.project, saved_by = case when _administers(faculties.saved_by) then faculties.saved_by else excluded.saved_by end
  returning * into v_faculty;
  return v_faculty;
end
$$;

comment on function faculty_save(jsonb) is
  'Stores an agent configuration and makes it the current one of its name: select faculty_save(''{"name": "reader", "accepts": ["analyze"], "engage": {"max_turns": 20}}''). p_config has the keys of v_faculty_keys, which are those of the faculty TOML; keys left out get their defaults. Returns the faculties row. project: it takes work of that project only, and is not replaced by one of the same name of another project, or of none; without it, it takes work of every project that has none of its own for it, and of no project. Saving the same content again changes nothing. Attempts under way keep the configuration with which they started. saved_by: who named its workspace_dir, see work_submit(). Raises WL002: the message is the first of faculty_problems(); if there are several, the detail lists all, one a line.';
