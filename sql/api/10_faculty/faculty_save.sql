-- Saving a faculty: the TOML of the design, as jsonb with every key present.

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
  v_faculty faculties;
begin
  perform _faculty_check(p_config);
  v_config := _faculty_complete(p_config);
  v_hash := _content_hash(v_config::text);

  perform _lock('faculties');
  update faculties set is_current = false where name = v_config ->> 'name' and is_current and content_hash <> v_hash;
  insert into faculties (content_hash, name, config, saved_by)
  values (v_hash, v_config ->> 'name', v_config, session_user)
  on conflict (content_hash) do update
     set is_current = true, saved_by = case when _administers(faculties.saved_by) then faculties.saved_by else excluded.saved_by end
  returning * into v_faculty;
  return v_faculty;
end
$$;

comment on function faculty_save(jsonb) is
  'Stores an agent configuration and makes it the current one of its name: select faculty_save(''{"name": "reader", "accepts": ["analyze"], "engage": {"max_turns": 20}}''). p_config has the keys of v_faculty_keys, which are those of the faculty TOML; keys left out get their defaults. Returns the faculties row. Saving the same content again changes nothing. Attempts under way keep the configuration with which they started. saved_by: who named its workspace_dir, see work_submit(). Raises WL002: the message is the first of faculty_problems(); if there are several, the detail lists all, one a line.';

create or replace function _faculty_for(p_faculty text, p_work_type text)
  returns faculties
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select *
    from faculties
   where is_current
     and case when p_faculty is not null then name = p_faculty else config -> 'accepts' ? p_work_type end
   order by name
   limit 1;
$$;

comment on function _faculty_for(text, text) is 'The current faculty of that name or, if p_faculty is null, the first by name that accepts the work type; null: there is none.';

create or replace function _faculty_of(p_item work_items)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce(
    (select f.faculty from foci f where f.id = p_item.focus_id),
    case when p_item.resolved_at is not null then (
      select f.faculty from foci f where f.work_item_id = p_item.id order by f.attempt desc limit 1) end,
    (_faculty_for(p_item.faculty, p_item.work_type)).name);
$$;

comment on function _faculty_of(work_items) is 'The name of the faculty that works on an item, or would work on it next; of an item that is over, the one that worked on it last or, if none did, that would have. Null: there is none.';
