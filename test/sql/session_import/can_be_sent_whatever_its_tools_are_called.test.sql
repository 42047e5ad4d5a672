-- A session that was imported can be gone on with, whatever its tools are called: each call is sent under a name that the API takes.
begin;
select plan(3);

select agent('{"tools": ["look"], "ledger_nudge_interval": 0}', '{"accepts": [], "awareness": {"enabled": false}}');
select session_import(json_build_object('format', 'pi', 'sessionId', 's', 'prompt', 'Find it', 'exchanges', json_build_array(
  json_build_object('calls', (select json_agg(json_build_object('id', 'call_' || n, 'name', name, 'input', '{}'::json, 'result', 'seen') order by n)
                                from unnest(array['look', 'db.query', '', repeat('n', 200)]) with ordinality as u(name, n))),
  json_build_object('text', 'Done'))));
select take(work_fork((select id from turns order by depth desc limit 1), p_faculty => 'worker'));
select drive();

select is((select array_agg(block ->> 'name' order by i) from blocks(1) where block ->> 'type' = 'tool_use'), array['look', 'db_query', 'unnamed', repeat('n', 128)], 'every name is one that the API takes');
select is((select array_agg(tool_name order by ordinal) from tool_calls), array['look', 'db.query', '', repeat('n', 200)], 'calls are stored as they came');
select is((select array_agg(b ->> 'name' order by n) from messages m, json_array_elements(m.content) with ordinality as x(b, n) where m.role = 'assistant' and b ->> 'type' = 'tool_use'),
  array['look', 'db.query', '', repeat('n', 200)], 'the response is stored as it came');

select * from finish();
rollback;
