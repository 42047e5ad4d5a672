-- What the tables need first: time-ordered identifiers and a clock that tests can freeze.

-- api/00_ground/server.sql has what it does on this version of PostgreSQL.
create function _uuidv7() returns uuid
  language sql volatile
  return gen_random_uuid();

-- Whoever calls a function that runs with its owner's privileges cannot set the clock.
create function _now() returns timestamptz
  language sql volatile
  return coalesce(case when current_user = session_user then nullif(current_setting('work_ledger.now', true), '') end::timestamptz, clock_timestamp());
