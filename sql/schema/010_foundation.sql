-- What the tables need first: time-ordered identifiers and a clock that tests can freeze.

do $do$
begin
  if current_setting('server_version_num')::integer >= 180000 then
    create function _uuidv7() returns uuid
      language sql volatile
      return pg_catalog.uuidv7();
  else
    -- A random UUID whose first 64 bits are replaced by the milliseconds, the version and, as in PostgreSQL 18, the
    -- fraction of the millisecond in 12 bits: ids made later in a transaction sort later.
    create function _uuidv7() returns uuid
      language sql volatile
      return (
        select encode(
                 overlay(uuid_send(gen_random_uuid())
                   placing substring(int8send(t.microseconds / 1000) from 3) || substring(int4send((28672 + t.microseconds % 1000 * 4096 / 1000)::integer) from 3)
                   from 1 for 8),
                 'hex')::uuid
          from (select floor(extract(epoch from clock_timestamp()) * 1000000)::bigint as microseconds) t);
  end if;
end
$do$;

-- Whoever calls a function that runs with its owner's privileges cannot set the clock.
create function _now() returns timestamptz
  language sql volatile
  return coalesce(case when current_user = session_user then nullif(current_setting('work_ledger.now', true), '') end::timestamptz, clock_timestamp());
