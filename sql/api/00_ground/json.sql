-- Writing, reading and storing JSON. Requests are text in the form that JSON.stringify writes (no white space, keys in the given order), so that
-- context_at() rebuilds exactly the bytes that were sent.

create or replace function _json_compact(p_json json)
  returns text
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  return case json_typeof(p_json)
    when 'object' then '{' || coalesce(
      (select string_agg(to_json(e.key)::text || ':' || _json_compact(e.value), ',' order by e.n)
         from json_each(p_json) with ordinality as e(key, value, n)), '') || '}'
    when 'array' then '[' || coalesce(
      (select string_agg(_json_compact(e.value), ',' order by e.n)
         from json_array_elements(p_json) with ordinality as e(value, n)), '') || ']'
    when 'string' then to_json(p_json #>> '{}')::text
    when 'number' then case
      when abs(p_json::text::numeric) between 1e-6 and 1e20 then trim_scale(p_json::text::numeric)::text
      else btrim(p_json::text) end
    else btrim(p_json::text)
  end;
end
$$;

comment on function _json_compact(json) is 'The same JSON without white space between its tokens, keys in the order given.';

create or replace function _json_with_key(p_object json, p_key text, p_value text)
  returns text
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if p_object ->> p_key = p_value then
    return p_object::text;
  elsif p_object -> p_key is null then
    return left(p_object::text, -1) || ',' || to_json(p_key)::text || ':' || to_json(p_value)::text || '}';
  end if;
  return (
    select '{' || string_agg(
             to_json(e.key)::text || ':' || case e.key when p_key then to_json(p_value)::text else e.value::text end, ','
             order by e.n) || '}'
      from json_each(p_object) with ordinality as e(key, value, n));
end
$$;

comment on function _json_with_key(json, text, text) is 'The object as text with one key set; everything else keeps its bytes and its order.';

create or replace function _text_block(p_text text)
  returns text
  language sql
  stable
  parallel safe
  return '{"type":"text","text":' || to_json(p_text)::text || '}';

comment on function _text_block(text) is 'A text content block.';

create or replace function _storable(p_json json)
  returns json
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_json text := p_json::text;
begin
  if v_json !~ '\\u(?:0000|[dD][89a-fA-F])' then
    return p_json;
  end if;
  v_json := regexp_replace(v_json, '(?<!\\)((?:\\\\)*)\\u0000', '\1␀', 'g');
  -- First protect surrogate pairs with an escape that JSON does not have (\p), then replace lone surrogates.
  v_json := regexp_replace(v_json, '(?<!\\)((?:\\\\)*)\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})', '\1\\p\2\3', 'g');
  v_json := regexp_replace(v_json, '(?<!\\)((?:\\\\)*)\\u[dD][89a-fA-F][0-9a-fA-F]{2}', '\1\\ufffd', 'g');
  return regexp_replace(v_json, '(?<!\\)((?:\\\\)*)\\p(.{4})(.{4})', '\1\\u\2\\u\3', 'g')::json;
end
$$;

comment on function _storable(json) is 'The JSON with its strings and keys made storable as jsonb and text: NUL becomes ␀ (U+2400), a lone surrogate becomes U+FFFD, as in storableText() of the runtime. All other bytes stay.';

create or replace function _jsonb_of(p_json json)
  returns jsonb
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  return p_json::jsonb;
exception when untranslatable_character or invalid_text_representation then
  return _storable(p_json)::jsonb;
end
$$;

comment on function _jsonb_of(json) is 'JSON as jsonb, even if its strings hold what jsonb cannot; those are replaced, see _storable().';

create or replace function _try_json(p_text text)
  returns jsonb
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  return _jsonb_of(p_text::json);
exception when others then
  return null;
end
$$;

comment on function _try_json(text) is 'The text as JSON; null if it is not JSON.';

create or replace function _ms(p_at timestamptz)
  returns bigint
  language sql
  immutable
  parallel safe
  return floor(extract(epoch from p_at) * 1000)::bigint;

comment on function _ms(timestamptz) is 'Unix milliseconds.';

create or replace function _milliseconds(p_from timestamptz, p_to timestamptz)
  returns double precision
  language sql
  immutable
  parallel safe
  return round(extract(epoch from p_to - p_from) * 1000, 3)::double precision;

comment on function _milliseconds(timestamptz, timestamptz) is 'Milliseconds from one time to another, to the microsecond.';
