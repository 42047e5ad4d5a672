-- Crashes count within one iteration: work that gets on is not killed by a worker that dies now and then.
begin;
select plan(7);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent('{"tools": ["look"]}');
select submit('Fix it');
-- Takes the work up p_times, each time from a worker that died; its last answer.
create function pg_temp.taken_over(p_times integer) returns text language plpgsql as $$
declare
  v_claim jsonb;
begin
  for v_n in 1..p_times loop
    perform later('1 minute');
    v_claim := claim();
  end loop;
  return coalesce(v_claim ->> 'state', v_claim ->> 'kind');
end
$$;

select is(pg_temp.taken_over(3), 'claimed', 'an iteration may lose two workers of three');
select is((select crash_count from foci), 2, 'each lost worker is counted');
select begin_iteration(), answer('[["look"]]'), run();
select is(iteration_finish(item(), lease()) ->> 'kind', 'continued', 'the third worker finishes the iteration');
select is((select crash_count from foci), 0, 'a finished iteration sets the count back');
select is(pg_temp.taken_over(3), 'claimed', 'the next iteration may lose two again');
select is(pg_temp.taken_over(1), 'dead', 'an iteration may not lose three');
select is((select state_reason from work_items), 'its worker died 3 times in iteration 2', 'the reason says what it died of');

select * from finish();
rollback;
