begin;
select plan(20);

select tool('write_file', 'idempotent', 'dangerous');
select agent('{"tools": ["look", "read_file", "write_file"], "ledger_nudge_interval": 0, "elide_budget": 0, "require_approval": "dangerous"}', '{"awareness": {"enabled": false}}');
select submit('Find why the import is slow');
create function pg_temp.turn(p_content text) returns uuid language plpgsql as $$
declare
  v_item uuid := item();
  v_lease uuid := (focus_claim(v_item, 'w') ->> 'lease')::uuid;
  v_turn uuid := (iteration_begin(v_item, v_lease) ->> 'turn_id')::uuid;
begin
  perform turn_record(v_item, v_lease, v_turn, format('{"stop_reason": "tool_use", "content": [%s], "usage": {"input_tokens": 1000, "output_tokens": 10}}', p_content)::json);
  perform tool_call_settle(v_item, v_lease, k.id, 'saw ' || k.provider_id, k.provider_id = 'bad') from tool_calls k where k.turn_id = v_turn and tool_name <> 'ledger_append' and status = 'pending'
     and not exists (select from approvals a where a.tool_call_id = k.id);
  perform tool_call_execute(v_item, v_lease, k.id) from (select id from tool_calls where turn_id = v_turn and tool_name = 'ledger_append' order by ordinal) k;
  perform iteration_finish(v_item, v_lease);
  return v_turn;
end
$$;
create function pg_temp.tool(p_id text, p_name text, p_input text default '{}') returns text language sql as $$ select format('{"type": "tool_use", "id": "%s", "name": "%s", "input": %s}', p_id, p_name, p_input) $$;
create function pg_temp.entry(p_id text, p_type text, p_content text) returns text language sql as $$
  select pg_temp.tool(p_id, 'ledger_append', format('{"entry_type": "%s", "content": "%s"}', p_type, p_content)) $$;

select from pg_temp.turn(concat_ws(',', '{"type": "text", "text": "I look first."}', pg_temp.entry('p', 'plan', '1. look\n2. [x] read\n3. mend'), pg_temp.tool('a', 'look'), pg_temp.tool('bad', 'look'), pg_temp.tool('r', 'read_file', '{"path": "./a.ts"}')));
select from work_message(item(), 'Only the tests, please');
select from pg_temp.turn(concat_ws(',', pg_temp.entry('d', 'decision', 'Add an index'), pg_temp.entry('e', 'error', 'No such table'), pg_temp.tool('w', 'write_file', '{"path": "a.ts", "content": "x\ny"}'), pg_temp.tool('w2', 'write_file', '{"path": "b.ts", "content": "x"}')));
select from tool_call_approve((select id from tool_calls where provider_id = 'w'));
select from tool_call_reject((select id from tool_calls where provider_id = 'w2'), 'Not that file');
do $$
declare
  v_item uuid := item();
  v_lease uuid := (focus_claim(v_item, 'w') ->> 'lease')::uuid;
begin
  perform iteration_begin(v_item, v_lease);
  perform tool_call_settle(v_item, v_lease, id, 'Wrote') from tool_calls where provider_id = 'w';
  perform iteration_finish(v_item, v_lease);
end
$$;
select from pg_temp.turn(pg_temp.entry('s', 'step', 'Looked and mended'));
select from journal_log(item(), 'code_generated', '{"language": "sql", "code": "create index", "purpose": "speed"}');
select from journal_log(item(), 'recovery', '{"message": "Connected again"}', 'high');
do $$
declare v_lease uuid := (focus_claim(item(), 'w') ->> 'lease')::uuid;
begin
  perform work_complete(item(), 'It is fast', p_lease => v_lease);
end
$$;

create temporary table j as select * from journal_read(item());
select set_eq('select distinct entry_type from j', array['session_start', 'thinking', 'tool_request', 'tool_approved', 'tool_rejected', 'tool_result', 'code_generated', 'file_read', 'file_written',
  'decision', 'error', 'recovery', 'checkpoint', 'user_feedback', 'summary', 'session_end'], 'all sixteen types');
select is((select array_agg(created_at order by sequence_num) from j), (select array_agg(created_at order by created_at) from j), 'numbered by time');
select is((select count(distinct id) from j), (select count(*) from j), 'each entry once');
select is((select bool_and(content ->> 'type' = entry_type) from j), true, 'each with its payload');
select is((select entry_type from j order by sequence_num limit 1), 'session_start', 'it begins with the beginning');
select is((select content from j order by sequence_num limit 1), '{"type": "session_start", "originalPrompt": "Find why the import is slow", "selectedModel": "claude-sonnet-5-5", "selectedPersona": "worker"}', 'and with what was asked');
select is((select entry_type from j order by sequence_num desc limit 1), 'session_end', 'and ends with the end');
select is((select content ->> 'summary' from j where entry_type = 'session_end'), 'It is fast', 'and what came of it');
select is((select content -> 'planSteps' from j where content ->> 'ledgerType' = 'plan'), '["look", "mend"]', 'the open parts of a plan');
select results_eq($$ select content ->> 'filePath', content ->> 'operation', (content ->> 'linesAffected')::integer from j where entry_type in ('file_read', 'file_written') order by sequence_num $$,
  $$ values ('a.ts', 'read', null), ('a.ts', 'create', 2) $$, 'files');
select is((select content ->> 'reason' from j where entry_type = 'tool_rejected'), 'Not that file', 'why not');
select is((select count(*) from j where entry_type = 'tool_result' and importance = 'high' and content ->> 'errorMessage' = 'saw bad'), 1::bigint, 'a failed result matters');
select is((select bool_and(token_estimate > 0) from j), true, 'tokens are estimated');
select set_eq($$ select importance from j $$, array['low', 'normal', 'high', 'critical'], 'all degrees of importance');
select is((select count(*) from journal_read(item(), '-infinity', 3)), 3::bigint, 'the first three');
select is((select count(*) from journal_read(item(), (select created_at from j where entry_type = 'session_end'))), 1::bigint, 'from a time on');
select set_eq($$ select entry_type from journal_read(item(), p_importance => '{critical}') $$, array['session_start', 'checkpoint', 'session_end'], 'only what is critical');
select results_eq($$ select status, conversation_id = id::text, entry_count > 20 from work_sessions where id = item() $$, $$ values ('completed', true, true) $$, 'as a session');
select is((journal_export(item()) #>> '{session,status}'), 'completed', 'exported whole');
select throws_ok($$ select * from journal_read(gen_random_uuid()) $$, 'WL001', null, 'of an item that is there');

select * from finish();
rollback;
