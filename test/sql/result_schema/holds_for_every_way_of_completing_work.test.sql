-- Whoever completes work with a schema brings a result that fits it: a command in place of the loop, an MCP client, a program, a journal.
begin;
select plan(10);

select agent('{"mode": "external", "command": "do"}', '{"recover": {"max_attempts": 1}, "awareness": {"enabled": false}, "result_schema": {"type": "object", "properties": {"rows": {"type": ["integer", "null"]}}, "required": ["rows"]}}');
create function pg_temp.answers(p_stdout text) returns text language sql as $$
  select submit(p_stdout); select drive();
  select hook_record(item(), lease(), (stage() ->> 'hook_run_id')::uuid, jsonb_build_object('exit_code', 0, 'stdout', p_stdout)) ->> 'kind';
$$;

select is(pg_temp.answers('{"summary": "Done", "result": {"rows": "five"}, "entries": [{"entry_type": "note", "content": "x"}]}'), 'dead', 'an attempt fails whose command answers otherwise');
select results_eq('select state_reason, outcome_data -> ''result_errors'', ledger_count(w)::integer from work_items w where id = item()',
  $$ values ('the engage command returned a result that does not fit its schema: result.rows must be integer or null, not string', '["result.rows must be integer or null, not string"]'::jsonb, 0) $$, 'with all that is wrong, and records nothing');
select is(pg_temp.answers('Done'), 'dead', 'so does one whose command answers with words alone');
select is((select outcome_data -> 'result_errors' from work_items where id = item())::text, '["result is missing"]', 'its result is missing');
select is(pg_temp.answers('{"summary": "Done", "result": {"rows": null}}'), 'recorded', 'one that fits is taken');
select is((stage() #> '{input,result_schema,required}')::text, '["rows"]', 'the command was told the schema');
select from iteration_begin(item(), lease());
select is((select outcome_data from work_items where id = item()), '{"summary": "Done", "result": {"rows": null}}', 'and it is the outcome, with its nulls');

create temporary table own as select id from work_submit('nobody', 'By hand', p_result_schema => '{"type": "integer"}');
select throws_ok($$ select ability_invoke('work_complete', '{"summary": "Done"}', (select id from own)) $$, 'WL002', E'the result does not fit its schema:\n- result is missing', 'a client of MCP brings one');
select is(ability_invoke('work_complete', '{"summary": "Done", "result": 5}', (select id from own)) ->> 'state', 'completed', 'that fits');

create temporary table session as select id from work_submit('journal', 'A session', p_result_schema => '{"type": "integer"}');
select from work_pause((select id from session), 'for now');
select throws_ok($$ select journal_session_status((select id from session), 'completed') $$, 'WL002', null, 'a session with a schema does not end without a result');

select * from finish();
rollback;
