-- Values checked against a JSON Schema: fully where the database has a JavaScript engine, otherwise as far as SQL can.

create or replace function _schema_check(p_what text, p_schema jsonb, p_value jsonb)
  returns void
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_key text;
  v_value jsonb;
  v_types text[];
  v_errors jsonb;
begin
  if jsonb_typeof(p_value) is distinct from 'object' then
    perform _raise_invalid(p_what || ' must be a JSON object');
  end if;
  for v_key in select jsonb_array_elements_text(p_schema -> 'required') loop
    if p_value -> v_key is null then
      perform _raise_invalid(format('%s needs "%s"', p_what, v_key), p_schema #>> array['properties', v_key, 'description']);
    end if;
  end loop;
  for v_key, v_value in select key, value from jsonb_each(p_value) loop
    select case jsonb_typeof(t) when 'array' then array(select jsonb_array_elements_text(t)) when 'string' then array[t #>> '{}'] end
      into v_types
      from (select p_schema #> array['properties', v_key, 'type']) s(t);
    if v_types is not null and not (jsonb_typeof(v_value) = any (v_types)
         or (jsonb_typeof(v_value) = 'number' and 'integer' = any (v_types) and (v_value #>> '{}')::numeric = trunc((v_value #>> '{}')::numeric))) then
      perform _raise_invalid(format('"%s" of %s must be %s, not %s', v_key, p_what, array_to_string(v_types, ' or '), jsonb_typeof(v_value)));
    end if;
    if p_schema #> array['properties', v_key, 'enum'] is not null and not p_schema #> array['properties', v_key, 'enum'] @> jsonb_build_array(v_value) then
      perform _raise_invalid(format('"%s" of %s must be one of %s', v_key, p_what, p_schema #> array['properties', v_key, 'enum']));
    end if;
    if p_schema -> 'properties' -> v_key is null and p_schema -> 'additionalProperties' = 'false' then
      perform _raise_invalid(format('%s has no key "%s"', p_what, v_key));
    end if;
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
  'Checks a value against a JSON Schema: required keys, types and enums of the top level, additionalProperties = false; the whole schema where the database has a JavaScript engine. p_what names the value in the error. Raises WL002.';

create or replace function _has_javascript()
  returns boolean
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select exists (select from pg_proc p join pg_language l on l.oid = p.prolang
                  where p.oid = to_regprocedure(format('%I._js_json_schema_errors(text, text)', _ledger_schema())) and l.lanname in ('pljs', 'plv8'));
$$;

comment on function _has_javascript() is 'Whether the JavaScript functions are installed (by "work-ledger javascript").';
