begin;
select plan(4);

select from ability_register('look', 'Looks.', '{"type": "object"}', 'pure', 'safe');
select from faculty_save('{"name": "worker", "accepts": ["analyze"], "engage": {"tools": ["look"], "compact_keep_recent": 2, "ledger_nudge_interval": 0}}');
create temporary table item as select * from work_submit('analyze', 'Fix it');
create temporary table held (lease uuid, stage json);
create function pg_temp.next() returns json language plpgsql as $$
begin
  delete from held;
  insert into held (lease) select (focus_claim((select id from item), 'w') ->> 'lease')::uuid;
  update held set stage = iteration_begin((select id from item), lease);
  return (select stage from held);
end
$$;
create function pg_temp.say(p_n integer) returns void language plpgsql as $$
declare
  v_turn uuid := (pg_temp.next() ->> 'turn_id')::uuid;
begin
  perform turn_record((select id from item), (select lease from held), v_turn, '{"stop_reason": "tool_use", "content": [{"type":"tool_use","id":"a","name":"look","input":{}}]}');
  perform tool_call_settle((select id from item), (select lease from held), k.id, format('Row %s. ', p_n) || repeat('x', 3000)) from tool_calls k where k.turn_id = v_turn;
  perform iteration_finish((select id from item), (select lease from held));
end
$$;
select pg_temp.say(n) from generate_series(1, 5) n;
select context_compact((select id from item), 'rows');
select from ledger_watch((select id from item));
select is(pg_temp.next() ->> 'kind', 'summarize', 'a summary is asked for');
select turn_stream((select id from item), lease, (stage ->> 'turn_id')::uuid, '[{"type": "text", "text": "Four ro"}]') from held;
select results_eq('select said from v_streaming', $$ values ('Four ro') $$, 'and seen while it arrives');
select work_pause((select id from item)), work_message((select id from item), 'Wait', true);
select is_empty('select from v_streaming union all select from turn_streams', 'interrupted, nothing arrives any more');
select work_resume((select id from item));
select is(pg_temp.next() ->> 'kind', 'summarize', 'until it is asked for again');
select * from finish();
rollback;
