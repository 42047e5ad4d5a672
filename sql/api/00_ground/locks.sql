-- Locks on things that have no row, held until the transaction ends. They lock rows of table locks, which only the ledger's owner may
-- update; no new version of the row is written.

create or replace function _lock(p_purpose text, p_key text default null)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  perform from locks where purpose = p_purpose and place = _lock_place(p_key) for no key update;
end
$$;

comment on function _lock(text, text) is 'Waits until nobody else holds this lock. p_key: what is locked; null: there is one of its kind.';

create or replace function _lock_shared(p_purpose text, p_key text)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  perform from locks where purpose = p_purpose and place = _lock_place(p_key) for share;
end
$$;

comment on function _lock_shared(text, text) is '_lock() that others may hold, too, if they take it so.';

create or replace function _lock_all(p_purpose text, p_keys text[])
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  perform from locks where purpose = p_purpose and place = any (array(select _lock_place(k) from unnest(p_keys) k)) order by place for no key update;
end
$$;

comment on function _lock_all(text, text[]) is '_lock() of several things, in the order of their places.';

create or replace function _lock_try(p_purpose text, p_key text default null)
  returns boolean
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  perform from locks where purpose = p_purpose and place = _lock_place(p_key) for no key update skip locked;
  return found;
end
$$;

comment on function _lock_try(text, text) is '_lock() if nobody holds it; false: somebody does.';

create or replace function _lock_place(p_key text)
  returns smallint
  language sql
  immutable
  parallel safe
  return case when p_key is null then 0 else hashtextextended(p_key, 0) & 63 end;

comment on function _lock_place(text) is 'Which of the 64 rows of its purpose stands for a thing.';
