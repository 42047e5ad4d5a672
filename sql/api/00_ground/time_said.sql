-- Formats a time for a sentence, always in UTC: sessions have different time zones, and sentences are passed on.

create or replace function _time_said(p_at timestamptz)
  returns text
  language sql
  stable
  parallel safe
  return to_char(p_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') || ' UTC';

comment on function _time_said(timestamptz) is 'A time to the second, in UTC: 2026-11-28 08:38:45 UTC. Null for infinity.';
