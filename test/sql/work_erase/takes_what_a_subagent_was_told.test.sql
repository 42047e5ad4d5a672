-- What a recorded session told a subagent goes with it, whether the subagent's own record is here or not; where it is here, with that.
begin;
select plan(3);

select (session_import(json_build_object('format', 'claude-code', 'sessionId', s, 'prompt', 'Go', 'exchanges', json_build_array(json_build_object(
  'id', s || '-e1', 'text', 'I ask', 'calls', json_build_array(json_build_object('id', 'k1', 'name', 'Task', 'input', '{"description": "a secret"}'::json, 'spawns', 'a1')))))) ->> 'work_item_id')::uuid as id, s
  into temporary table made from unnest('{s,t}'::text[]) s;
select session_import('{"format": "claude-code", "sessionId": "t#a1", "parentSessionId": "t", "prompt": "Go", "exchanges": [{"text": "x"}]}');
create function pg_temp.told() returns text[] language sql as $$ select array_agg(task_description order by label) from sessions where is_subagent $$;
select is(pg_temp.told(), '{a secret,a secret}'::text[], 'two subagents were told something');
select count(*) from made, lateral work_erase(id);
select is(pg_temp.told(), array['[erased]', 'a secret'], 'of one that is not here nothing is left');
select count(*) from work_items w, lateral work_erase(w.id) where w.external_id = 'import:claude-code:t#a1';
select is(pg_temp.told(), array['[erased]', '[erased]'], 'the other one is work of its own, and takes it along');

select * from finish();
rollback;
