-- Calls become calls of the other program where it has a tool that does the same; all others are told as text, after the results, between markers.
begin;
select plan(13);

select agent('{"tools": ["look"]}', '{"awareness": {"enabled": false}}');
create temporary table imported as select session_import(json_build_object('format', 'codex', 'sessionId', 's', 'prompt', 'Fix it', 'model', 'gpt-5.5', 'exchanges', json_build_array(
  json_build_object('text', 'I look', 'thinking', '[{"thinking": "Hm", "signature": "c2ln"}]'::json, 'calls', json_build_array(
    json_build_object('id', 'a', 'name', 'update_plan', 'input', '{"plan": ["first"]}'::json, 'result', 'Plan updated'),
    json_build_object('id', 'b', 'name', 'exec_command', 'input', '{"cmd": "ls", "yield_time_ms": 10}'::json, 'result', 'a.py'),
    json_build_object('id', 'c', 'name', 'shell', 'input', '{"command": ["bash", "-lc", "ls -a"]}'::json, 'result', '.git', 'isError', true),
    json_build_object('id', 'd', 'name', 'apply_patch', 'input', '{"input": "*** Begin Patch"}'::json))),
  json_build_object('text', 'Done')))) as i;
create temporary table line as select n, record, left_out, record #>> '{message,role}' as role, record #> '{message,content}' as content from session_export('codex:s', 'claude-code');

select is((select array_agg(content #>> '{0,input,command}' order by n) from line where content #>> '{0,type}' = 'tool_use'), array['ls', 'ls -a'], 'commands are commands');
select is((select array_agg(distinct content #>> '{0,name}') from line where content #>> '{0,type}' = 'tool_use'), array['Bash'], 'of the tool that the program has');
select is((select array_agg(content #>> '{0,tool_use_id}' order by n) from line where content #>> '{0,type}' = 'tool_result'), array['b', 'c'], 'their results name them');
select is((select (content #>> '{0,is_error}') from line where content #>> '{0,tool_use_id}' = 'c'), 'true', 'and say that they failed');
select is((select array_agg(l.t order by n) from (select n, case when content #>> '{0,type}' = 'tool_result' then 'result' else 'text' end as t from line where role = 'user' and n > 1) l), array['result', 'result', 'text', 'text'], 'results come first, as the API wants it');
select alike((select content #>> '{}' from line where content #>> '{}' like '%update_plan%'), '[work-ledger] A call of "update_plan"%<data-%{"plan": ["first"]}%Plan updated%</data-%', 'a call of a tool that the program lacks is told with its result, between markers');
select is((select record ->> 'isMeta' from line where content #>> '{}' like '%update_plan%'), 'true', 'and no person said it');
select alike((select content #>> '{}' from line where content #>> '{}' like '%apply_patch%'), '%the error that it ended with%The record has no result for this call%', 'so is one that failed');
select results_eq('select left_out, count(*) from line where left_out is not null group by 1 order by 1', $$ values
  ('calls of apply_patch, a tool that the other program does not have: they are written as text', 1::bigint),
  ('calls of update_plan, a tool that the other program does not have: they are written as text', 1),
  ('the input "yield_time_ms" of calls of exec_command', 1) $$, 'what could not be carried is said');

-- Its own program gets its own calls back.
create temporary table own as select n, record, record -> 'payload' as p from session_export('codex:s', 'codex') where record is not null;
select is((select array_agg(p ->> 'name' order by n) from own where p ->> 'type' like '%_call'), array['update_plan', 'exec_command', 'shell', 'apply_patch'], 'to its own program each call goes as it was');
select is((select (p ->> 'arguments')::jsonb from own where p ->> 'call_id' = 'b' and p ->> 'type' = 'function_call'), '{"cmd": "ls", "yield_time_ms": 10}'::jsonb, 'with all of its input');
select is((select array_agg(p ->> 'type' order by n) from own where p ->> 'call_id' = 'd'), array['custom_tool_call', 'custom_tool_call_output'], 'a tool that takes text is one that takes text');
select is((select array_agg(p ->> 'call_id' order by n) from own where p ->> 'type' like '%_output'), array['a', 'b', 'c', 'd'], 'and each has its result');

select * from finish();
rollback;
