-- Prerequisites of the tables: time-ordered identifiers, and a clock that tests can freeze.

-- A placeholder; api/00_ground/server.sql has the definition for this version of PostgreSQL.
create function _uuidv7() returns uuid
  language sql volatile
  return gen_random_uuid();

-- In functions that run with their owner's privileges, the caller cannot set the clock.
create function _now() returns timestamptz
  language sql volatile
  return coalesce(case when current_user = session_user then nullif(current_setting('work_ledger.now', true), '') end::timestamptz, clock_timestamp());
