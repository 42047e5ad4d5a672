-- What the tables stand on: identifiers in time order and a clock that tests can freeze.

do $do$
begin
  if current_setting('server_version_num')::integer >= 180000 then
    create function _uuidv7() returns uuid
      language sql volatile
      return pg_catalog.uuidv7();
  else
    -- A random UUID whose first 48 bits are replaced by the milliseconds; flipping two bits turns version 4 into 7.
    create function _uuidv7() returns uuid
      language sql volatile
      return encode(
        set_bit(set_bit(
          overlay(uuid_send(gen_random_uuid())
            placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3)
            from 1 for 6),
          52, 1), 53, 1),
        'hex')::uuid;
  end if;
end
$do$;

create function _now() returns timestamptz
  language sql volatile
  return coalesce(nullif(current_setting('work_ledger.now', true), '')::timestamptz, clock_timestamp());
