-- How long an item waits for the model: what the provider asks for, an hour at most; else ever longer, a minute at most.
begin;
select plan(7);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent();
select submit('Fix it');
-- Seconds until the item is taken up again.
create function pg_temp.fails(p_error jsonb) returns double precision language plpgsql as $$
begin
  perform set_config('work_ledger.now', (select run_at + interval '1 second' from item)::text, true);
  update models set cooldown_ends_at = null;
  perform drive(), iteration_fail(item(), lease(), p_error);
  return extract(epoch from (select run_at from item) - _now());
end
$$;

select is(pg_temp.fails('{"class": "rate_limited", "retry_after_seconds": 3600}'), 3600::double precision, 'an hour that the provider asks for is waited');
select cmp_ok(pg_temp.fails('{"class": "rate_limited", "retry_after_seconds": 3601}'), '<', 3::double precision, 'more than an hour is not waited');
select cmp_ok(pg_temp.fails('{"class": "server_error", "retry_after_seconds": 999999999}'), '<', 6::double precision, 'a number that no interval holds is not waited');
create temporary table waits as select n, pg_temp.fails('{"class": "timeout"}') as seconds from generate_series(4, 19) n;
select ok((select bool_and(seconds between 0.75 * power(2, n - 1) and 1.25 * power(2, n - 1)) from waits where n < 7), 'where the provider says nothing waits grow');
select ok((select bool_and(seconds between 45 and 75) from waits where n >= 7), 'waits grow to about a minute');
select is((select max(model_error_count) from foci), 19, 'nineteen failures in a row were counted');
set local work_ledger.now = '2026-11-21';
select drive(), answer('[["ledger_read"]]');
select is((select model_error_count from foci), 0, 'an answer ends the row of failures');

select * from finish();
rollback;
