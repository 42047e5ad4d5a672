-- Decides which faculty an item goes to: one of its project, otherwise one of the ledger's, never one of another project. Two faculties may have the same
-- name, so everything that belongs to a faculty, such as its slots, refers to it by its reference.

create or replace function _takes(p_this faculties, p_faculty text, p_work_type text)
  returns boolean
  language sql
  immutable
  parallel safe
  return case when p_faculty is not null then p_this.name = p_faculty else p_this.config -> 'accepts' ? p_work_type end;

comment on function _takes(faculties, text, text) is 'Whether an item that asks for this faculty or, if that is null, is of this work type would be taken by p_this, if nobody came before it.';

create or replace function _faculty_for(p_faculty text, p_work_type text, p_project text)
  returns faculties
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select *
    from faculties f
   where is_current and coalesce(project, '') = any (array['', coalesce(p_project, '')]) and _takes(f, p_faculty, p_work_type)
   order by project nulls last, name
   limit 1;
$$;

comment on function _faculty_for(text, text, text) is 'The current faculty of that name or, if p_faculty is null, the first by name that accepts the work type: of the project (by its name of today) or, if it has none, of the ledger. Null: there is none.';

create or replace function _faculty_at(p_item work_items)
  returns faculties
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_hash text;
  v_faculty faculties;
begin
  if p_item.focus_id is not null then
    v_hash := (select f.faculty_hash from foci f where f.id = p_item.focus_id);
  elsif p_item.resolved_at is not null then
    v_hash := (select f.faculty_hash from foci f where f.work_item_id = p_item.id order by f.attempt desc limit 1);
  end if;
  if v_hash is null then
    return _faculty_for(p_item.faculty, p_item.work_type, _project_now(p_item.project));
  end if;
  select * into v_faculty from faculties where content_hash = v_hash;
  return v_faculty;
end
$$;

comment on function _faculty_at(work_items) is 'The faculty that works on an item, as its attempt pinned it, or would work on it next; of an item that is over, the one that worked on it last or, if none did, that would have. Null: there is none.';

create or replace function _faculty_of(p_item work_items)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select (_faculty_at(p_item)).name;
$$;

comment on function _faculty_of(work_items) is 'The name of _faculty_at().';

create or replace function _faculty_now(p_item work_items)
  returns faculties
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select f.*
    from _faculty_at(p_item) a
    join faculties f on f.is_current and coalesce(f.project, '') = coalesce(a.project, '') and f.name = a.name;
$$;

comment on function _faculty_now(work_items) is '_faculty_at() as it is configured now.';

create or replace function _faculty_ref(p_faculty faculties)
  returns text
  language sql
  immutable
  parallel safe
  return concat_ws('@', p_faculty.name, p_faculty.project);

comment on function _faculty_ref(faculties) is 'What a faculty is called by where its name alone could be that of two: its name or, if it is a project''s, name@project (a name has no @). Null becomes an empty text.';

create or replace function _faculty_refs(p_ref text)
  returns text[]
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select array(select concat_ws('@', split_part(p_ref, '@', 1), n) from unnest(_project_names(nullif(substr(p_ref, strpos(p_ref || '@', '@') + 1), ''))) n);
$$;

comment on function _faculty_refs(text) is 'All references that a faculty had or has: its project may have been renamed since one was stored.';

create or replace function _faculty_by_ref(p_ref text)
  returns faculties
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select f.*
    from faculties f
   where f.is_current and f.name = split_part(p_ref, '@', 1)
     and coalesce(f.project, '') = coalesce(_project_now(nullif(substr(p_ref, strpos(p_ref || '@', '@') + 1), '')), '');
$$;

comment on function _faculty_by_ref(text) is 'The current faculty of a reference, however old; null: there is none.';

create or replace function _why_unroutable(p_faculty text, p_work_type text)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select case when p_faculty is not null then format('there is no faculty "%s"', p_faculty)
              else format('no faculty accepts work type "%s"', p_work_type) end
         || coalesce((
           select format(' except that of project "%s", for work of that project', f.project)
             from faculties f
            where f.is_current and f.project is not null and _takes(f, p_faculty, p_work_type)
            order by f.created_at desc
            limit 1), '');
$$;

comment on function _why_unroutable(text, text) is 'Why no faculty takes an item for which _faculty_for() found none, as a sentence.';

create or replace function _result_schema_of(p_item work_items)
  returns jsonb
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  return coalesce(p_item.result_schema, nullif(
    coalesce((select c.config from foci f join faculties c on c.content_hash = f.faculty_hash where f.id = p_item.focus_id),
             (_faculty_now(p_item)).config) -> 'result_schema', 'null'));
end
$$;

comment on function _result_schema_of(work_items) is 'What the result of an item must look like: its own result_schema, else that of the faculty of the attempt under way, else of its faculty as it is now. Null: anything.';
