-- What arguments must be like: one check for each kind, so that each bad one is refused in words and with a code of ours.

create or replace function _check_key(p_what text, p_key text)
  returns void
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if octet_length(p_key) > 1000 then
    perform _raise_invalid(format('%s has at most 1,000 bytes, not %s', p_what, octet_length(p_key)));
  end if;
end
$$;

comment on function _check_key(text, text) is 'Refuses a key or a name that no index holds; null is none. Raises WL002.';

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

comment on function _check_word(text, text, text[]) is 'Refuses what is none of the known words. Raises WL002.';

create or replace function _check_time(p_what text, p_at timestamptz)
  returns void
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if not p_at between '0001-01-01' and '9999-12-31' then
    perform _raise_invalid(format('%s is a time that comes, not %s', p_what, p_at));
  end if;
end
$$;

comment on function _check_time(text, timestamptz) is 'Refuses a time that never comes; null is none. Raises WL002.';

create or replace function _check_span(p_what text, p_span interval)
  returns void
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if p_span is null or not p_span between '0' and '1000 years' then
    perform _raise_invalid(format('%s is a span of 0 to 1,000 years, not %s', p_what, p_span));
  end if;
end
$$;

comment on function _check_span(text, interval) is 'Refuses a span of time that is missing, negative or longer than anything. Raises WL002.';

create or replace function _count(p_what text, p_count text)
  returns integer
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if p_count !~ '^\d{1,9}(\.0+)?$' or p_count::numeric > 100000000 then
    perform _raise_invalid(format('%s is a whole number up to 100,000,000, not %s', p_what, _one_line(p_count, 60)));
  end if;
  return p_count::numeric::integer;
end
$$;

comment on function _count(text, text) is 'A count from JSON, as text; null for none. Raises WL002.';

create or replace function _budget_amount(p_resource text, p_amount jsonb)
  returns numeric
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  perform _check_word('a resource of budgets', p_resource, _budget_resources());
  if jsonb_typeof(p_amount) is distinct from 'number' or p_amount::numeric < 0 then
    perform _raise_invalid(format('a budget of %s is a number from 0, not %s', p_resource, p_amount));
  end if;
  return p_amount::numeric;
end
$$;

comment on function _budget_amount(text, jsonb) is 'The amount, if it is one of such a resource. Raises WL002.';
