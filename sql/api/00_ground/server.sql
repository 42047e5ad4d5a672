-- Definitions that depend on the server's major version. "work-ledger install" runs this again if the ledger is now on another one.

do $do$
begin
  if current_setting('server_version_num')::integer >= 180000 then
    create or replace function _uuidv7() returns uuid
      language sql volatile
      return pg_catalog.uuidv7();
  else
    -- A random UUID whose first 64 bits are replaced by the milliseconds, the version and, as in PostgreSQL 18, 12 bits for the fraction of the
    -- millisecond: ids created later in a transaction sort later.
    create or replace function _uuidv7() returns uuid
      language sql volatile
      return (
        select encode(
                 overlay(uuid_send(gen_random_uuid())
                   placing substring(int8send(t.microseconds / 1000) from 3)
                     || substring(int4send((28672 + t.microseconds % 1000 * 4096 / 1000)::integer) from 3)
                   from 1 for 8),
                 'hex')::uuid
          from (select floor(extract(epoch from clock_timestamp()) * 1000000)::bigint as microseconds) t);
  end if;
end
$do$;
