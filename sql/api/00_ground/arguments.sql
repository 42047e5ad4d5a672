-- Argument checks, one for each kind of argument. A bad argument is rejected with a clear message and one of our error codes.

create or replace function _check_key(p_what text, p_key text)
  returns void
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if octet_length(p_key) > 1000 then
    perform _raise_invalid(format('%s can have at most 1,000 bytes, not %s', p_what, octet_length(p_key)));
  end if;
end
$$;

comment on function _check_key(text, text) is 'Refuses a key or a name that is too long for an index (over 1,000 bytes); null passes. Raises WL002.';

create or replace function _check_idempotency_key(p_key text)
  returns void
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  perform _check_key('an idempotency key', p_key);
  if p_key = '' then
    perform _raise_invalid('an empty string is not an idempotency key', 'Leave the argument out, or pass null.');
  end if;
end
$$;

comment on function _check_idempotency_key(text) is 'Refuses an idempotency key that is empty or too long; null passes. Raises WL002.';

create or replace function _check_word(p_what text, p_word text, p_known text[])
  returns void
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if p_word is null or p_word <> all (p_known) then
    perform _raise_invalid(format('"%s" is not %s', _one_line(p_word, 60), p_what), format('One of: %s.', array_to_string(p_known, ', ')));
  end if;
end
$$;

comment on function _check_word(text, text, text[]) is 'Refuses a value that is not in p_known; p_what names it in the error. Raises WL002.';

create or replace function _an(p_noun text)
  returns text
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select case when p_noun ~ '^[aeiou]' then 'an ' else 'a ' end || p_noun;
$$;

comment on function _an(text) is 'The noun with its article, for messages: an array, a string.';

create or replace function _check_time(p_what text, p_at timestamptz)
  returns void
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if not p_at between '0001-01-01' and '9999-12-31' then
    perform _raise_invalid(format('%s must be a time in the years 1 to 9999, not %s', p_what, p_at));
  end if;
end
$$;

comment on function _check_time(text, timestamptz) is 'Refuses infinity and other times outside the years 1 to 9999; null passes. Raises WL002.';

create or replace function _check_span(p_what text, p_span interval)
  returns void
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if p_span is null or not p_span between '0' and '1000 years' then
    perform _raise_invalid(format('%s must be between 0 and 1,000 years, not %s', p_what, coalesce(p_span::text, 'null')));
  end if;
end
$$;

comment on function _check_span(text, interval) is 'Refuses an interval that is null, negative or over 1,000 years. Raises WL002.';

create or replace function _integer(p_what text, p_number text, p_least integer, p_most integer)
  returns integer
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if p_number !~ '^-?\d{1,10}(\.0+)?$' or p_number::numeric not between p_least and p_most then
    perform _raise_invalid(format('%s must be a whole number from %s to %s, not %s', p_what,
      to_char(p_least, 'FM9,999,999,990'), to_char(p_most, 'FM9,999,999,990'), _as_given(p_number)));
  end if;
  return p_number::numeric::integer;
end
$$;

comment on function _integer(text, text, integer, integer) is 'A whole number given as text, from JSON; null for null. Raises WL002.';

create or replace function _count(p_what text, p_count text)
  returns integer
  language sql
  stable
  return _integer(p_what, p_count, 0, 100000000);

comment on function _count(text, text) is 'A count given as text, from JSON; null for null. Raises WL002.';

create or replace function _is_uuid(p_text text)
  returns boolean
  language sql
  immutable
  parallel safe
  return p_text ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';

comment on function _is_uuid(text) is 'Whether a text is an id as the ledger writes it.';

create or replace function _uuids(p_what text, p_ids jsonb)
  returns uuid[]
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_other jsonb;
begin
  if jsonb_typeof(p_ids) is distinct from 'array' then
    perform _raise_invalid(p_what || ' must be a list of ids');
  end if;
  select one into v_other from jsonb_array_elements(p_ids) one where jsonb_typeof(one) <> 'string' or not _is_uuid(one #>> '{}') limit 1;
  if found then
    perform _raise_invalid(format('%s must be a list of ids: %s is not an id', p_what, _one_line(v_other::text, 60)));
  end if;
  return array(select jsonb_array_elements_text(p_ids)::uuid);
end
$$;

comment on function _uuids(text, jsonb) is 'A JSON list of ids. Raises WL002.';

create or replace function _budget_amount(p_resource text, p_amount jsonb)
  returns numeric
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  perform _check_word('a resource of budgets', p_resource, _budget_resources());
  if jsonb_typeof(p_amount) is distinct from 'number' or p_amount::numeric < 0 then
    perform _raise_invalid(format('a budget of %s must be a number, 0 or more, not %s', p_resource, coalesce(p_amount::text, 'null')));
  end if;
  return p_amount::numeric;
end
$$;

comment on function _budget_amount(text, jsonb) is 'The amount of a budget, checked: a known resource and a number, 0 or more. Raises WL002.';

create or replace function _check_page(p_limit integer, p_most integer)
  returns void
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if p_limit is null or p_limit not between 1 and p_most then
    perform _raise_invalid(format('p_limit must be between 1 and %s, not %s', p_most, coalesce(p_limit::text, 'null')));
  end if;
end
$$;

comment on function _check_page(integer, integer) is 'Refuses a number of rows that is null, under 1 or over p_most. Raises WL002.';
