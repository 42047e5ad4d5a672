-- Renders what a cut keeps as text for the model: calls with their results as they were shown, and numbered lines of files.

create or replace function _kept_call(p_call tool_calls)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select format('> %s (block %s, iteration %s)', p_call.tool_name, _block_of(t), t.iteration)
      || _input_lines(_call_input(p_call))
      || case when exists (select from touches x where x.tool_call_id = p_call.id and x.action = 'read')
           then E'\nresult:\n' || _unwrapped(_result_text(p_call.result), w.work_type) else '' end
    from turns t join work_items w on w.id = t.work_item_id
   where t.id = p_call.turn_id;
$$;

comment on function _kept_call(tool_calls) is 'A kept call as text: name, where it was made, its input and, if it reads, its result as it was shown.';

create or replace function _unwrapped(p_result text, p_work_type text)
  returns text
  language sql
  immutable
  parallel safe
  return case when p_work_type in ('import', 'journal')
    then btrim(regexp_replace(p_result, '<system-reminder>.*?</system-reminder>', '', 'g'), E'\n') else p_result end;

comment on function _unwrapped(text, text) is 'A result without what the harness of a recorded session put around it.';

create or replace function _input_lines(p_input json, p_name text default null, p_depth integer default 0)
  returns text
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  return case
    when json_typeof(p_input) = 'object' and p_depth < 3 then (
      select coalesce(string_agg(_input_lines(i.value, concat_ws('.', p_name, i.key), p_depth + 1), '' order by i.n), '')
        from json_each(p_input) with ordinality as i(key, value, n))
    when json_typeof(p_input) = 'array' and p_depth < 3 then (
      select coalesce(string_agg(_input_lines(i.value, concat_ws('.', p_name, i.n), p_depth + 1), '' order by i.n), '')
        from json_array_elements(p_input) with ordinality as i(value, n))
    when json_typeof(p_input) = 'string' and p_input #>> '{}' ~ E'\n' then E'\n' || concat_ws(E':\n', p_name, p_input #>> '{}')
    when json_typeof(p_input) = 'string' then E'\n' || concat_ws(': ', p_name, p_input #>> '{}')
    else E'\n' || concat_ws(': ', p_name, p_input::text) end;
end
$$;

comment on function _input_lines(json, text, integer) is
  'An input as lines "name: value", each with a line break before it. Texts are as they were, so that what an edit replaced can be found in them; of what nests deeper than three levels, the JSON.';

create or replace function _kept_text(p_kept json, p_lines text[] default null)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select format('# %s%s', _one_line(p_kept ->> 'target', 1000), case
           when part.text is not null then format(', lines %s to %s as they are now', p_kept #>> '{lines,0}', p_kept #>> '{lines,1}')
           when p_kept -> 'lines' is not null then ' was not found: the whole file' end)
      || E'\n'
      || coalesce(
           part.text,
           (select content from artifacts where content_hash = p_kept ->> 'artifact'),
           (select string_agg(_kept_call(k), E'\n\n' order by c.n)
              from json_array_elements_text(p_kept -> 'calls') with ordinality as c(id, n)
              join tool_calls k on k.id = c.id::uuid))
    from (select case when p_kept #>> '{lines,0}' is not null then
            _numbered_lines(coalesce(p_lines, _kept_lines(p_kept)), (p_kept #>> '{lines,0}')::integer, (p_kept #>> '{lines,1}')::integer)
          end as text) part;
$$;

comment on function _kept_text(json, text[]) is 'One element of what a cut keeps, as text for the model. p_lines: the lines of the file, where they are known.';

create or replace function _kept_lines(p_kept json)
  returns text[]
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select f.lines
    from _file_seen(array(select json_array_elements_text(p_kept -> 'calls')::uuid), _keep_path(p_kept ->> 'target'), null, null, null) f;
$$;

comment on function _kept_lines(json) is 'The lines of the file of which an element of what a cut keeps is a part.';

create or replace function _kept_block(p_cut elisions)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select concat_ws(E'\n\n',
           case
             when p.text is not null then format(
                E'[engine] Kept from closed blocks because %s: as you saw it then, as data between the markers; '
                'others may have changed it since.\n\n<%s>\n%s\n</%s>',
             case when (p_cut.kept ->> 'is_named')::boolean then 'you listed it in keep' else 'you read it recently and have not changed it since' end,
             m.marker, p.text, m.marker) end,
           '[engine] You also listed these in keep, but there was no room for them: '
             || (select string_agg(format('%s (artifact_read("%s"))', _one_line(o.value ->> 'target', 200), o.value ->> 'handle'), ', ' order by o.n)
                   from json_array_elements(p_cut.kept -> 'no_room') with ordinality as o(value, n)))
    from (values ('data-' || left(md5(p_cut.id::text), 12))) as m(marker)
    cross join (
      -- Parts of one file from the same calls are extracted together.
      select string_agg(_kept_text(f.value, s.lines), E'\n\n' order by f.n) as text
        from json_array_elements(p_cut.kept -> 'kept') with ordinality as f(value, n)
        left join (
          select o.path, o.calls, _kept_lines(o.one) as lines
            from (select _keep_path(e ->> 'target') as path, (e -> 'calls')::text as calls, (array_agg(e))[1] as one
                    from json_array_elements(p_cut.kept -> 'kept') e where e #>> '{lines,0}' is not null group by 1, 2 having count(*) > 1) o) s
          on s.path = _keep_path(f.value ->> 'target') and s.calls = (f.value -> 'calls')::text and f.value #>> '{lines,0}' is not null) p;
$$;

comment on function _kept_block(elisions) is 'What a cut keeps, as text for the model; null: nothing.';
