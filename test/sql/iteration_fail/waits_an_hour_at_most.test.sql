-- How long an item waits for the model: what the provider asks for, an hour at most; else ever longer, a minute at most.
begin;
select plan(7);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent();
select submit('Fix it');
-- Seconds until the item is taken up again.
create function pg_temp.fails(p_error jsonb) returns double precision language plpgsql as $$
declare
  v_lease uuid;
begin
  perform set_config('work_ledger.now', (select run_at + interval '1 second' from work_items)::text, true);
  update models set cooldown_ends_at = null;
  v_lease := focus_claim(item(), 'w') ->> 'lease';
  perform iteration_begin(item(), v_lease);
  perform iteration_fail(item(), v_lease, p_error);
  return extract(epoch from (select run_at from work_items) - _now());
end
$$;

select is(pg_temp.fails('{"class": "rate_limited", "retry_after_seconds": 3600}'), 3600::double precision, 'an hour is waited for');
select cmp_ok(pg_temp.fails('{"class": "rate_limited", "retry_after_seconds": 3601}'), '<', 3::double precision, 'more is nonsense, and not');
select cmp_ok(pg_temp.fails('{"class": "server_error", "retry_after_seconds": 999999999}'), '<', 6::double precision, 'nor is a number that no interval holds');
create temporary table waits as select n, pg_temp.fails('{"class": "timeout"}') as seconds from generate_series(4, 19) n;
select ok((select bool_and(seconds between 0.75 * power(2, n - 1) and 1.25 * power(2, n - 1)) from waits where n < 7), 'without a word it is ever longer');
select ok((select bool_and(seconds between 45 and 75) from waits where n >= 7), 'but about a minute at most');
select is((select max(model_error_count) from foci), 19, 'up to the nineteenth failure in a row');
set local work_ledger.now = '2026-11-21';
select claim();
select from turn_record(item(), lease(), (iteration_begin(item(), lease()) ->> 'turn_id')::uuid,
  '{"stop_reason": "tool_use", "content": [{"type": "tool_use", "id": "a", "name": "ledger_read", "input": {}}]}');
select is((select model_error_count from foci), 0, 'an answer ends the row');

select * from finish();
rollback;
