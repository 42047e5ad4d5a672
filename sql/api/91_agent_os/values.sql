-- Values in the form of Agent OS: times in milliseconds, text, pages.

create or replace function _from_ms(p_entity jsonb, p_key text)
  returns timestamptz
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if jsonb_typeof(p_entity -> p_key) is distinct from 'number' or (p_entity ->> p_key)::numeric not between 0 and 253402300799999 then
    perform _raise_invalid(format('"%s" must be a time in Unix milliseconds', p_key));
  end if;
  return timestamptz 'epoch' + round((p_entity ->> p_key)::numeric) * interval '1 millisecond';
end
$$;

comment on function _from_ms(jsonb, text) is 'The time under a key of an entity. Raises WL002.';

create or replace function _text_of(p_entity jsonb, p_key text, p_is_optional boolean default false)
  returns text
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if p_is_optional and coalesce(p_entity -> p_key, 'null') = 'null' then
    return null;
  end if;
  if jsonb_typeof(p_entity -> p_key) is distinct from 'string' then
    perform _raise_invalid(format('"%s" must be text', p_key));
  end if;
  return p_entity ->> p_key;
end
$$;

comment on function _text_of(jsonb, text, boolean) is 'The text under a key of an entity; null: it is optional and left out. Raises WL002.';

create or replace function _page(p_input jsonb, p_key text, p_default integer)
  returns integer
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if jsonb_typeof(p_input -> p_key) not in ('number', 'null') or (p_input ->> p_key)::numeric not between 0 and 1000000000 then
    perform _raise_invalid(format('"%s" must be a number from 0 to 1,000,000,000', p_key));
  end if;
  return coalesce(floor((p_input ->> p_key)::numeric)::integer, p_default);
end
$$;

comment on function _page(jsonb, text, integer) is 'The limit or offset of a query. Raises WL002.';
