begin;
select plan(4);

select agent('{"tools": ["look"], "compact_keep_recent": 2, "ledger_nudge_interval": 0}');
select submit('Fix it');
create function pg_temp.say(p_n integer) returns void language plpgsql as $$
declare
  v_turn uuid := (drive() ->> 'turn_id')::uuid;
begin
  perform turn_record(item(), lease(), v_turn, '{"stop_reason": "tool_use", "content": [{"type":"tool_use","id":"a","name":"look","input":{}}]}');
  perform tool_call_settle(item(), lease(), k.id, format('Row %s. ', p_n) || repeat('x', 3000)) from tool_calls k where k.turn_id = v_turn;
  perform iteration_finish(item(), lease());
end
$$;
select pg_temp.say(n) from generate_series(1, 5) n;
select context_compact(item(), 'rows');
select from ledger_watch(item());
select is(drive() ->> 'kind', 'summarize', 'a summary is asked for');
select turn_stream(item(), lease(), (stage ->> 'turn_id')::uuid, '[{"type": "text", "text": "Four ro"}]') from held;
select results_eq('select said from v_streaming', $$ values ('Four ro') $$, 'and seen while it arrives');
select work_pause(item()), work_message(item(), 'Wait', true);
select is_empty('select from v_streaming union all select from turn_streams', 'interrupted, nothing arrives any more');
select work_resume(item());
select is(drive() ->> 'kind', 'summarize', 'until it is asked for again');
select * from finish();
rollback;
