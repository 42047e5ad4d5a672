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
    perform set_config('work_ledger.now', (_now() + interval '1 minute')::text, true);
    v_claim := focus_claim(item(), 'w');
  end loop;
  return coalesce(v_claim ->> 'state', v_claim ->> 'kind');
end
$$;
create function pg_temp.iterate() returns text language plpgsql as $$
declare
  v_lease uuid := (select lease_token from work_items);
  v_turn uuid := iteration_begin(item(), v_lease) ->> 'turn_id';
begin
  perform turn_record(item(), v_lease, v_turn, json_build_object('stop_reason', 'tool_use', 'content',
    json_build_array(json_build_object('type', 'tool_use', 'id', v_turn, 'name', 'look', 'input', json_build_object()))));
  perform tool_call_settle(item(), v_lease, k.id, v_turn::text) from tool_calls k where k.turn_id = v_turn;
  return iteration_finish(item(), v_lease) ->> 'kind';
end
$$;

select is(pg_temp.taken_over(3), 'claimed', 'two workers died of three that an iteration has');
select is((select crash_count from foci), 2, 'which is counted');
select is(pg_temp.iterate(), 'continued', 'the third one finishes the iteration');
select is((select crash_count from foci), 0, 'and the count falls back');
select is(pg_temp.taken_over(3), 'claimed', 'the next iteration may lose two again');
select is(pg_temp.taken_over(1), 'dead', 'and not three');
select is((select state_reason from work_items), 'its worker died 3 times in iteration 2', 'which is what it died of');

select * from finish();
rollback;
