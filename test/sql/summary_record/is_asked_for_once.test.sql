-- A summary that cannot be had is asked for once for a request; one that its key kept away is asked for again when a person has changed that.
begin;
select plan(7);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent('{"tools": ["look"], "context_window": 20000, "compact_keep_recent": 2, "elide_budget": 0, "keep_auto": 0, "ledger_nudge_interval": 0, "fallback_model": "other"}',
  '{"awareness": {"enabled": false}}');
-- Work whose context is nearly full, and that recorded nothing.
create function pg_temp.full_one() returns void language sql as $$
  select submit();
  select play(format('[[["look", "%s"]]]', repeat('seen ', 4000))::jsonb, p_more => '{"usage": {}}') from generate_series(1, 2); $$;

select pg_temp.full_one();
select is(drive() ->> 'kind', 'summarize', 'a summary is asked for');
select is(iteration_fail(item(), lease(), '{"class": "authentication", "message": "no such key"}') ->> 'kind', 'paused', 'a key that is refused waits for a person');
select work_resume(item());
select is(drive() ->> 'kind', 'summarize', 'resumed, the summary is asked for again');
select is(iteration_fail(item(), lease(), '{"class": "invalid_request", "message": "no such model"}') ->> 'kind', 'retry', 'a request that cannot be served is given up');
select is(drive() ->> 'kind', 'call_model', 'the work goes on without a summary, and asks for no second one');

select pg_temp.full_one(), drive();
create temporary table asked as select turn() as id, stage() -> 'request' ->> 'system' as system;
select iteration_fail(item(), lease(), '{"class": "rate_limited", "message": "too many", "retry_after_seconds": 40}');
update work_items set run_at = _now() where id = item();
select is(drive() ->> 'kind', 'retry', 'a model that asked for a pause is not asked for a summary meanwhile, nor is the one that answers agents instead');
select later('1 hour');
select is(drive() -> 'request' ->> 'system', (select system from asked), 'then the same request is sent again');

select * from finish();
rollback;
