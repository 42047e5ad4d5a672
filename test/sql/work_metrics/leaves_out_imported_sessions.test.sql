-- What was done elsewhere and imported is not counted as done here: neither requests nor calls, nor a session that has not got an answer yet.
begin;
select plan(2);

set local work_ledger.now = '2026-11-20 12:00:00+00';
create function pg_temp.metrics() returns text language sql as $$
  select coalesce(string_agg(distinct metric, ', '), 'none') from work_metrics('2026-11-20', '2026-11-21') $$;
select session_import('{"format": "atif", "sessionId": "s1", "prompt": "Go", "exchanges": [
  {"id": "e1", "at": "2026-11-20T11:00:00Z", "text": "I look", "usage": {"inputTokens": 10, "outputTokens": 5},
   "calls": [{"id": "k1", "name": "look", "input": {}, "result": "seen"}, {"id": "k2", "name": "await_child_work", "input": {}, "result": "done"}]},
  {"id": "e2", "at": "2026-11-20T11:01:00Z", "text": "Done", "calls": []}]}');
select session_import('{"format": "atif", "sessionId": "s2", "prompt": "Go", "exchanges": []}');
select is((select count(*) from tool_calls where completed_at is not null), 2::bigint, 'two calls of a session are here');
select is(pg_temp.metrics(), 'none', 'and none is counted');

select * from finish();
rollback;
