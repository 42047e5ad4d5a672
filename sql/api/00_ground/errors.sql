-- Errors that many functions raise. Every rejection has a clear message and one of our codes (WL...), which sql/README.md lists.

create or replace function _raise_not_found(p_what text, p_id uuid)
  returns void
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  raise exception using
    errcode = 'WL001',
    message = format('there is no %s %s', p_what, coalesce(p_id::text, '(null)'));
end
$$;

comment on function _raise_not_found(text, uuid) is 'Raises WL001: no such row in this ledger.';

create or replace function _raise_invalid(p_message text, p_hint text default null)
  returns void
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if coalesce(p_hint, '') = '' then
    raise exception using errcode = 'WL002', message = p_message; -- an empty hint would be printed as an empty line
  end if;
  raise exception using
    errcode = 'WL002',
    message = p_message,
    hint = p_hint;
end
$$;

comment on function _raise_invalid(text, text) is 'Raises WL002: an argument that cannot be used. p_hint: what to do instead; null: no hint.';
