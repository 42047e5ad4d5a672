-- Two responses that a program recorded without a call or a word between them are one message of a request, all of each as it came.
begin;
select plan(4);

select agent('{"elide_budget": 0}', '{"awareness": {"enabled": false}}');
create temporary table run as select session_import(json_build_object('format', 'codex', 'sessionId', 's', 'prompt', 'Fix it', 'model', 'claude-opus-4-6', 'exchanges', json_build_array(
  json_build_object('id', 'a', 'text', 'I look.', 'thinking', json_build_array(json_build_object('thinking', 'one', 'signature', 'x')), 'calls', '[]'::json),
  json_build_object('id', 'b', 'text', 'Still looking.', 'thinking', json_build_array(json_build_object('thinking', 'two', 'signature', 'y')), 'calls', '[]'::json),
  json_build_object('id', 'c', 'text', '', 'calls', json_build_array(json_build_object('id', 'x', 'name', 'Read', 'input', '{"path": "a"}'::json, 'result', 'seen'))),
  json_build_object('id', 'd', 'text', 'Done.', 'calls', '[]'::json)))) as made;
select take((work_fork((select head_turn_id from sessions where label = 'codex:s'), 'Go on', 'worker')).id);
select drive();

select is(shape(1), 'user:text assistant:thinking,text,thinking,text,tool_use user:tool_result assistant:text user:text,text', 'three responses in a row are one message');
select is((select string_agg(coalesce(block ->> 'thinking', block ->> 'text', block ->> 'id'), '|' order by i) from blocks(1) where role = 'assistant'), 'one|I look.|two|Still looking.|x|Done.', 'each as it came');
select answer('["Gone on."]');
select is(rebuilt(), 1::bigint, 'the request is rebuilt to the byte');
select is((select count(*)::integer from context_parts((select turn_id from request)) where part = 'response'), 4, 'and read part by part');

select * from finish();
rollback;
