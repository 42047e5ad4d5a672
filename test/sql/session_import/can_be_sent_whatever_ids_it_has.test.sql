-- A session that was imported can be gone on with, whatever ids its provider gave to calls: each is sent as one that the API takes, once.
begin;
select plan(8);

select agent('{"tools": ["look"], "ledger_nudge_interval": 0, "model": "claude-sonnet-5-5"}', '{"accepts": [], "awareness": {"enabled": false}}');
create function pg_temp.call(p_id text) returns jsonb language sql as $$ select jsonb_build_object('id', p_id, 'name', 'look', 'input', '{}'::jsonb, 'result', 'seen') $$;
-- A provider that numbers anew, ids that the API does not take, a response that is a thought alone.
create temporary table run as select jsonb_build_object('format', 'pi', 'sessionId', 's', 'prompt', 'Find it', 'model', 'claude-sonnet-5-5', 'exchanges', jsonb_build_array(
  jsonb_build_object('text', 'I look', 'calls', jsonb_build_array(pg_temp.call('call_1'), pg_temp.call('call|fc:1'), pg_temp.call('call_1'))),
  jsonb_build_object('calls', jsonb_build_array(pg_temp.call('call_1'), pg_temp.call(E'a\nb'))),
  jsonb_build_object('thinking', '[{"thinking": "Hm", "signature": "c2ln"}]'::jsonb, 'followUp', 'Go on'),
  jsonb_build_object('text', 'Done'))) as run;
create temporary table imported as select session_import((select run from run)::json) as i;
create temporary table last as select id from turns order by depth desc limit 1;
-- A fork, a fork of the fork, and each makes a call whose id the provider gave before.
select take(work_fork((select id from last), p_faculty => 'worker'));
select play('[[{"type": "tool_use", "id": "call_1", "name": "look", "input": {}}]]');
select take(work_fork(turn()));
select play('[[{"type": "tool_use", "id": "call_1", "name": "look", "input": {}}]]');
create temporary table sent as
  select m.n as message, b.n, m.value ->> 'role' as role, b.value ->> 'type' as type, coalesce(b.value ->> 'id', b.value ->> 'tool_use_id') as id, b.value ->> 'text' as text
    from work_items i, context_window(i.focus_id) w, json_array_elements(w.messages) with ordinality as m(value, n), json_array_elements(m.value -> 'content') with ordinality as b(value, n)
   where i.id = item();

select is((select count(*) from sent where id !~ '^[a-zA-Z0-9_-]{1,64}$'), 0::bigint, 'every id is one that the API takes');
select results_eq($$ select count(*), count(distinct id) from sent where type = 'tool_use' $$, $$ values (7::bigint, 7::bigint) $$, 'each id stands once, through import, fork and fork of the fork');
select is((select array_agg(id order by message, n) from sent where type = 'tool_result'), (select array_agg(id order by message, n) from sent where type = 'tool_use'), 'results name their calls');
select is((select array_agg(b ->> 'id' order by m.sequence, x.n) from turns t join messages m on m.turn_id = t.id, json_array_elements(m.content) with ordinality as x(b, n) where t.depth = 0 and b ->> 'type' = 'tool_use'),
  array['call_1', 'call|fc:1', 'call_1'], 'a recorded response is stored as it came');
select is((select array_agg(given_id order by ordinal) from tool_calls where turn_id = (select id from turns where depth = 1)), array['call_1', E'a\nb'], 'the ids that the provider gave are known');
select is((select text from sent where role = 'assistant' and type = 'text' and text like '(%'), '(The response ended here, with a thought.)', 'a response that is a thought alone is closed');

-- The same run with more in it.
create temporary table longer as select session_import(jsonb_set((select run from run), '{exchanges,4}', jsonb_build_object('text', 'More', 'calls', jsonb_build_array(pg_temp.call('call_1'))))::json) as i;
select is((select i -> 'calls' from longer), '1', 'a session that has grown is imported by what it grew by');
select is((select count(distinct provider_id) from tool_calls where work_item_id = (select (i ->> 'work_item_id')::uuid from imported)), 6::bigint, 'a call that was added has an id of its own');

select * from finish();
rollback;
