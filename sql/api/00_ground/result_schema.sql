-- Schemas for results: the part of JSON Schema that SQL can check completely. Keywords outside of it are rejected, so that nothing
-- goes unchecked silently.

create or replace function _result_schema_problems(p_schema jsonb, p_at text default 'result_schema')
  returns setof text
  language plpgsql
  immutable
  rows 1
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_key text;
  v_value jsonb;
  v_kind text;
begin
  if jsonb_typeof(p_schema) is distinct from 'object' then
    return next format('%s must be a JSON Schema, which is an object', p_at);
    return;
  elsif p_at = 'result_schema' and octet_length(p_schema::text) > 65536 then
    return next format('%s can have at most 64 KiB', p_at);
    return;
  elsif char_length(p_at) > 2000 then
    return next format('%s is nested too deeply', left(p_at, 200));
    return;
  end if;
  for v_key, v_value in select key, value from jsonb_each(p_schema) order by key loop
    v_kind := jsonb_typeof(v_value);
    if v_key in ('title', 'description', 'default', 'examples', '$schema', '$id', '$comment') then
      continue; -- annotations, which check nothing
    elsif v_key = 'type' then
      if v_value = '[]' or v_kind not in ('string', 'array') or exists (
        select from jsonb_array_elements(case v_kind when 'array' then v_value else jsonb_build_array(v_value) end) t
         where not t <@ '["string", "number", "integer", "boolean", "object", "array", "null"]') then
        return next format('%s.type must be string, number, integer, boolean, object, array or null, or a list of these', p_at);
      end if;
    elsif v_key = 'properties' then
      return query select _result_schema_problems(p.value, format('%s.properties.%s', p_at, p.key))
                     from jsonb_each(case v_kind when 'object' then v_value end) p;
    elsif v_key = 'items' or v_key = 'additionalProperties' and v_kind <> 'boolean' then
      return query select _result_schema_problems(v_value, format('%s.%s', p_at, v_key));
    elsif v_key in ('anyOf', 'oneOf') then
      return query select _result_schema_problems(s.value, format('%s.%s[%s]', p_at, v_key, s.n - 1))
                     from jsonb_array_elements(case v_kind when 'array' then v_value end) with ordinality as s(value, n);
    elsif v_key = 'pattern' and v_kind = 'string' then
      return query select format('%s.pattern must be a PostgreSQL regular expression of at most 500 characters', p_at)
                    where char_length(v_value #>> '{}') > 500 or not _is_pattern(v_value #>> '{}');
    end if;
    if v_key not in ('type', 'properties', 'required', 'additionalProperties', 'items', 'enum', 'const', 'minimum', 'maximum', 'minLength',
                     'maxLength', 'pattern', 'minItems', 'maxItems', 'anyOf', 'oneOf') then
      return next format('%s has keyword "%s", which is not supported', p_at, _one_line(v_key, 60));
    elsif v_key = 'properties' and v_kind <> 'object' then
      return next format('%s.properties must be an object of schemas', p_at);
    elsif v_key = 'required' and (v_kind <> 'array' or v_value @? '$[*] ? (@.type() != "string")') then
      return next format('%s.required must be a list of names', p_at);
    elsif v_key in ('enum', 'anyOf', 'oneOf') and (v_kind <> 'array' or v_value = '[]') then
      return next format('%s.%s must be a non-empty list', p_at, v_key);
    elsif v_key in ('minimum', 'maximum') and v_kind <> 'number' or v_key = 'pattern' and v_kind <> 'string' then
      return next format('%s.%s must be a %s', p_at, v_key, case v_key when 'pattern' then 'string' else 'number' end);
    elsif v_key in ('minLength', 'maxLength', 'minItems', 'maxItems') and v_value::text !~ '^\d{1,9}$' then
      return next format('%s.%s must be a whole number from 0', p_at, v_key);
    end if;
  end loop;
end
$$;

comment on function _result_schema_problems(jsonb, text) is
  'What is wrong with a schema for results; none: every keyword of it is checked by _result_errors(). Checked are type, properties, required, additionalProperties, items, enum, const, minimum, maximum, minLength, maxLength, pattern (as PostgreSQL reads regular expressions), minItems, maxItems, anyOf and oneOf.';

create or replace function _is_pattern(p_pattern text)
  returns boolean
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  perform '' ~ p_pattern;
  return true;
exception
  when invalid_regular_expression then
    return false;
end
$$;

comment on function _is_pattern(text) is 'Whether a text is a regular expression.';

create or replace function _result_errors(p_schema jsonb, p_value jsonb, p_at text default 'result')
  returns setof text
  language plpgsql
  immutable
  rows 1
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_kind text := jsonb_typeof(p_value);
  v_text text := p_value #>> '{}';
  v_types jsonb := case jsonb_typeof(p_schema -> 'type') when 'array' then p_schema -> 'type' when 'string' then jsonb_build_array(p_schema -> 'type') end;
  v_size integer := case v_kind when 'string' then char_length(v_text) when 'array' then jsonb_array_length(p_value) end;
  v_fitting integer;
begin
  if p_value is null then
    return next format('%s is missing', p_at);
    return;
  elsif not (v_types ? v_kind or v_kind = 'number' and v_types ? 'integer' and v_text::numeric % 1 = 0) then
    return next format('%s must be %s, not %s', p_at, (select string_agg(t, ' or ') from jsonb_array_elements_text(v_types) t), v_kind);
    return;
  end if;
  return query
    select format('%s must be one of %s', p_at, left((p_schema -> 'enum')::text, 500))
     where p_schema ? 'enum' and not exists (select from jsonb_array_elements(p_schema -> 'enum') e where e = p_value)
    union all
    select format('%s must be %s', p_at, left((p_schema -> 'const')::text, 500)) where p_schema -> 'const' <> p_value
    union all
    select format('%s must be at least %s', p_at, p_schema -> 'minimum') where v_kind = 'number' and p_value < p_schema -> 'minimum'
    union all
    select format('%s must be at most %s', p_at, p_schema -> 'maximum') where v_kind = 'number' and p_value > p_schema -> 'maximum'
    union all
    select format('%s must have at least %s %s, not %s', p_at, m.least, m.what, v_size)
      from (values ('string', p_schema ->> 'minLength', 'characters'), ('array', p_schema ->> 'minItems', 'items')) as m(kind, least, what)
     where m.kind = v_kind and v_size < m.least::integer
    union all
    select format('%s must have at most %s %s, not %s', p_at, m.most, m.what, v_size)
      from (values ('string', p_schema ->> 'maxLength', 'characters'), ('array', p_schema ->> 'maxItems', 'items')) as m(kind, most, what)
     where m.kind = v_kind and v_size > m.most::integer
    union all
    select format('%s must match %s', p_at, p_schema -> 'pattern') where v_kind = 'string' and v_text !~ (p_schema ->> 'pattern')
    union all
    select e from jsonb_array_elements(case v_kind when 'array' then p_value end) with ordinality as i(value, n)
            cross join lateral _result_errors(p_schema -> 'items', i.value, format('%s[%s]', p_at, i.n - 1)) e where p_schema ? 'items'
    union all
    select format('%s needs "%s"', p_at, r) from jsonb_array_elements_text(p_schema -> 'required') r where v_kind = 'object' and not p_value ? r
    union all
    select e from jsonb_each(case v_kind when 'object' then p_value end) p
            cross join lateral (select p_schema -> 'properties' -> p.key, p_schema -> 'additionalProperties') as s(own, other)
            cross join lateral (
              select format('%s has no key "%s"', p_at, _one_line(p.key, 100)) as e where s.own is null and s.other = 'false'
              union all
              select _result_errors(coalesce(s.own, s.other), p.value, format('%s.%s', p_at, _one_line(p.key, 100)))
               where s.own is not null or jsonb_typeof(s.other) = 'object') x
     limit 50;
  if p_schema ? 'anyOf' and not exists (
    select from jsonb_array_elements(p_schema -> 'anyOf') s where not exists (select _result_errors(s, p_value, p_at))) then
    return next format('%s fits none of the schemas in anyOf: %s', p_at, (
      select string_agg(format('(%s) %s', s.n, (select e from _result_errors(s.value, p_value, p_at) e limit 1)), '; ' order by s.n)
        from jsonb_array_elements(p_schema -> 'anyOf') with ordinality as s(value, n)));
  end if;
  v_fitting := (select count(*) from jsonb_array_elements(p_schema -> 'oneOf') s where not exists (select _result_errors(s, p_value, p_at)));
  if p_schema ? 'oneOf' and v_fitting <> 1 then
    return next format('%s must fit exactly one of the schemas in oneOf, but fits %s', p_at, v_fitting);
  end if;
end
$$;

comment on function _result_errors(jsonb, jsonb, text) is
  'Why a value does not fit a schema of results, up to 50 reasons and those of anyOf and oneOf, each with its place in the value; none: it fits. A null value is missing.';

create or replace function _result_schema_check(p_schema jsonb)
  returns void
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_problems text := (select string_agg(p, E'\n') from (select _result_schema_problems(p_schema) limit 20) as x(p));
begin
  if p_schema is not null and v_problems is not null then
    perform _raise_invalid(v_problems, 'See result_schema in docs/faculty.md for what can be checked.');
  end if;
end
$$;

comment on function _result_schema_check(jsonb) is 'Raises WL002 where a schema for results cannot be checked completely; null passes.';

create or replace function _result_check(p_schema jsonb, p_value jsonb)
  returns void
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_errors text := (select string_agg('- ' || e, E'\n') from _result_errors(p_schema, p_value) e);
begin
  if p_schema is not null and v_errors is not null then
    perform _raise_invalid(E'the result does not fit its schema:\n' || v_errors, 'Correct all of this, then complete again.');
  end if;
end
$$;

comment on function _result_check(jsonb, jsonb) is 'Raises WL002, with all that is wrong, where a result does not fit its schema; no schema (null) passes all.';
