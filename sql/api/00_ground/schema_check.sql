-- Checks values against a JSON Schema: completely if the database has a JavaScript engine, otherwise as far as SQL can.

create or replace function _schema_check(p_what text, p_schema jsonb, p_value jsonb)
  returns void
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_key text;
  v_value jsonb;
  v_errors jsonb;
begin
  if jsonb_typeof(p_value) is distinct from 'object' then
    perform _raise_invalid(p_what || ' must be a JSON object');
  end if;
  for v_key in select jsonb_array_elements_text(case jsonb_typeof(p_schema -> 'required') when 'array' then p_schema -> 'required' end) loop
    if p_value -> v_key is null then
      perform _raise_invalid(format('%s needs "%s"', p_what, v_key), p_schema #>> array['properties', v_key, 'description']);
    end if;
  end loop;
  for v_key, v_value in select key, value from jsonb_each(p_value) loop
    if p_schema -> 'properties' -> v_key is null and p_schema -> 'additionalProperties' = 'false' then
      perform _raise_invalid(format('%s has no key "%s"', p_what, v_key));
    end if;
    perform _schema_value_check(format('"%s" of %s', v_key, p_what), p_schema #> array['properties', v_key], v_value);
  end loop;
  if _has_javascript() then
    v_errors := json_schema_errors(p_schema, p_value);
    if v_errors <> '[]' then
      perform _raise_invalid(p_what || ' does not fit its schema', (select string_agg(e, E'\n') from jsonb_array_elements_text(v_errors) e));
    end if;
  end if;
end
$$;

comment on function _schema_check(text, jsonb, jsonb) is
  'Checks a value against a JSON Schema: its required keys, additionalProperties = false, and each value as in _schema_value_check(); the whole schema where the database has a JavaScript engine. p_what names the value in the error. Raises WL002.';

create or replace function _schema_value_check(p_what text, p_schema jsonb, p_value jsonb)
  returns void
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_types text[] := case jsonb_typeof(p_schema -> 'type')
    when 'array' then array(select jsonb_array_elements_text(p_schema -> 'type'))
    when 'string' then array[p_schema ->> 'type'] end;
  v_least jsonb := p_schema -> 'minimum';
  v_most jsonb := p_schema -> 'maximum';
  v_item record;
begin
  if v_types is not null and not (jsonb_typeof(p_value) = any (v_types)
       or (jsonb_typeof(p_value) = 'number' and 'integer' = any (v_types) and (p_value #>> '{}')::numeric = trunc((p_value #>> '{}')::numeric))) then
    perform _raise_invalid(format('%s must be %s, not %s', p_what, array_to_string(v_types, ' or '), jsonb_typeof(p_value)));
  end if;
  if p_schema -> 'enum' is not null and not p_schema -> 'enum' @> jsonb_build_array(p_value) then
    perform _raise_invalid(format('%s must be one of %s', p_what, p_schema -> 'enum'));
  end if;
  -- jsonb compares numbers as numbers, whatever their size.
  if jsonb_typeof(p_value) = 'number'
    and (jsonb_typeof(v_least) = 'number' and p_value < v_least or jsonb_typeof(v_most) = 'number' and p_value > v_most) then
    perform _raise_invalid(
      format('%s must be %s, not %s', p_what, concat_ws(' and ', 'at least ' || v_least::text, 'at most ' || v_most::text), _one_line(p_value::text, 60)));
  end if;
  for v_item in
    select value, n from jsonb_array_elements(case jsonb_typeof(p_value) when 'array' then p_value end) with ordinality as i(value, n)
     where jsonb_typeof(p_schema -> 'items') = 'object'
  loop
    perform _schema_value_check(format('item %s of %s', v_item.n, p_what), p_schema -> 'items', v_item.value);
  end loop;
end
$$;

comment on function _schema_value_check(text, jsonb, jsonb) is
  'Checks a value against type, enum, minimum and maximum of a JSON Schema, and the items of a list likewise; what an object holds is not looked at. Raises WL002.';

create or replace function _has_javascript()
  returns boolean
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select exists (select from pg_proc p join pg_language l on l.oid = p.prolang
                  where p.oid = to_regprocedure(format('%I._js_json_schema_errors(text, text)', _ledger_schema())) and l.lanname in ('pljs', 'plv8'));
$$;

comment on function _has_javascript() is 'Whether the JavaScript functions are installed (by "work-ledger install --javascript").';
