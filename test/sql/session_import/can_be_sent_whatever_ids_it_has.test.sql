begin;
select plan(8);

select tool('look');
select from faculty_save('{"name": "worker", "accepts": [], "awareness": {"enabled": false}, "engage": {"tools": ["look"], "ledger_nudge_interval": 0, "model": "claude-sonnet-5-5"}}');
create function pg_temp.call(p_id text) returns jsonb language sql as $$ select jsonb_build_object('id', p_id, 'name', 'look', 'input', '{}'::jsonb, 'result', 'seen') $$;
-- A provider that numbers anew, ids that the API does not take, a response that is a thought alone.
create temporary table run as select jsonb_build_object('format', 'pi', 'sessionId', 's', 'prompt', 'Find it', 'model', 'claude-sonnet-5-5', 'exchanges', jsonb_build_array(
  jsonb_build_object('text', 'I look', 'calls', jsonb_build_array(pg_temp.call('call_1'), pg_temp.call('call|fc:1'), pg_temp.call('call_1'))),
  jsonb_build_object('calls', jsonb_build_array(pg_temp.call('call_1'), pg_temp.call(E'a\nb'))),
  jsonb_build_object('thinking', '[{"thinking": "Hm", "signature": "c2ln"}]'::jsonb, 'followUp', 'Go on'),
  jsonb_build_object('text', 'Done'))) as run;
create temporary table imported as select session_import((select run from run)::json) as i;
create temporary table last as select id from turns order by depth desc limit 1;
create temporary table fork as select * from work_fork((select id from last), p_faculty => 'worker');
create function pg_temp.turn(p_item uuid) returns uuid language plpgsql as $$
declare
  v_lease uuid := (focus_claim(p_item, 'w') ->> 'lease')::uuid;
  v_turn uuid := (iteration_begin(p_item, v_lease) ->> 'turn_id')::uuid;
begin
  perform turn_record(p_item, v_lease, v_turn, '{"stop_reason": "tool_use", "content": [{"type": "tool_use", "id": "call_1", "name": "look", "input": {}}]}');
  perform tool_call_settle(p_item, v_lease, id, 'seen') from tool_calls where turn_id = v_turn;
  perform iteration_finish(p_item, v_lease);
  return v_turn;
end
$$;
create temporary table made as select pg_temp.turn((select id from fork)) as turn;
create temporary table again as select * from work_fork((select turn from made));
create temporary table further as select pg_temp.turn((select id from again)) as turn;
create temporary table sent as
  select m.n as message, b.n, m.value ->> 'role' as role, b.value ->> 'type' as type, coalesce(b.value ->> 'id', b.value ->> 'tool_use_id') as id, b.value ->> 'text' as text
    from work_items i, context_window(i.focus_id) w, json_array_elements(w.messages) with ordinality as m(value, n), json_array_elements(m.value -> 'content') with ordinality as b(value, n)
   where i.id = (select id from again);

select is((select count(*) from sent where id !~ '^[a-zA-Z0-9_-]{1,64}$'), 0::bigint, 'every id is one that the API takes');
select results_eq($$ select count(*), count(distinct id) from sent where type = 'tool_use' $$, $$ values (7::bigint, 7::bigint) $$, 'each stands once, through import, fork and fork of the fork');
select is((select array_agg(id order by message, n) from sent where type = 'tool_result'), (select array_agg(id order by message, n) from sent where type = 'tool_use'), 'results name their calls');
select is((select array_agg(b ->> 'id' order by m.sequence, x.n) from turns t join messages m on m.turn_id = t.id, json_array_elements(m.content) with ordinality as x(b, n) where t.depth = 0 and b ->> 'type' = 'tool_use'),
  array['call_1', 'call|fc:1', 'call_1'], 'the record is stored as it came');
select is((select array_agg(given_id order by ordinal) from tool_calls where turn_id = (select id from turns where depth = 1)), array['call_1', E'a\nb'], 'and its ids are known');
select is((select text from sent where role = 'assistant' and type = 'text' and text like '(%'), '(The response ended here, with a thought.)', 'a response that is a thought alone is closed');

-- The same run with more in it.
create temporary table longer as select session_import(jsonb_set((select run from run), '{exchanges,4}', jsonb_build_object('text', 'More', 'calls', jsonb_build_array(pg_temp.call('call_1'))))::json) as i;
select is((select i -> 'calls' from longer), '1', 'what it grew by is added');
select is((select count(distinct provider_id) from tool_calls where work_item_id = (select (i ->> 'work_item_id')::uuid from imported)), 6::bigint, 'under an id of its own');

select * from finish();
rollback;
