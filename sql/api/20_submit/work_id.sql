-- Finds a work item by what people type for it.

create or replace function work_id(p_name text, p_project text default null)
  returns uuid
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_name text := lower(btrim(p_name, E' \t\r\n'));
  v_nth integer;
  v_found uuid[];
begin
  if v_name ~ '^last(:[1-9][0-9]{0,3})?$' then
    v_nth := coalesce(nullif(substr(v_name, 6), ''), '1');
    v_found := case
      when p_project is null then array(select w.id from work_items w where w.parent_id is null order by w.created_at desc, w.id desc limit v_nth)
      else array(select n.id
                   from unnest(project_names(p_project)) p(name)
                  cross join lateral (select w.* from work_items w where coalesce(w.project, '') = p.name and w.parent_id is null
                                       order by w.created_at desc, w.id desc limit v_nth) n
                  order by n.created_at desc, n.id desc
                  limit v_nth) end;
    v_found := v_found[v_nth:];
  elsif v_name ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then
    v_found := array(select w.id from work_items w where w.id = v_name::uuid);
  elsif v_name ~ '^[0-9a-f-]{4,35}$' then
    v_found := array(select w.id from work_items w where right(w.id::text, char_length(v_name)) = v_name order by w.id desc limit 5);
    if v_found = '{}' then
      v_found := array(select w.id from work_items w where strpos(w.id::text, v_name) > 0 order by w.id desc limit 5);
    end if;
  else
    perform _raise_invalid(format('"%s" is not the id of a work item', _one_line(p_name, 200)),
      'Pass its id, the last six characters of the id, at least four characters that occur in no other id, last, or last:2 for the one before.');
  end if;
  if cardinality(v_found) = 1 then
    return v_found[1];
  elsif cardinality(v_found) > 1 then
    perform _raise_invalid(format('"%s" occurs in the id of more than one work item', v_name), (
      select string_agg(format('%s %s', w.id, _one_line(w.description, 60)), '; ' order by w.id desc) from work_items w where w.id = any (v_found)));
  end if;
  raise exception using errcode = 'WL001', message = format('there is no work item %s', v_name);
end
$$;

comment on function work_id(text, text) is
  'Finds the work item that a person means: select work_id(''1a2b3c''). p_name: its id, the end of its id as pages show it, any other part of at least four characters that is unique to it, last (the newest that is not a child) or last:2 (the one before it). p_project: counts only the newest items of this project, by any name; '''': of no project; null (the default): of all. Meant for people: without a whole id it looks at every work item. Raises WL001 (none), WL002 (not an id; more than one: the hint lists them).';
