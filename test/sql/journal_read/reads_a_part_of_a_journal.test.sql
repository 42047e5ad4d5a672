-- A journal is read from a time on, the first so many entries, or those of an importance; it is exported whole.
begin;
select plan(10);

select tool('write_file', 'idempotent', 'dangerous');
select agent('{"tools": ["look", "read_file", "write_file"], "ledger_nudge_interval": 0, "elide_budget": 0, "require_approval": "dangerous"}', '{"awareness": {"enabled": false}}');
select submit('Find why the import is slow');
select play('[["I look first.", ["plan", "1. look\n2. [x] read\n3. fix"], ["look", "saw it"], ["look", "failed to see"], ["read_file", {"path": "./a.ts"}]]]');
select from work_message(item(), 'Only the tests, please');
select play('[[["decision", "Add an index"], ["error", "No such table"], ["write_file", {"path": "a.ts", "content": "x\ny"}], ["write_file", {"path": "b.ts", "content": "x"}]]]');
select from tool_call_approve(call('t2_3')), tool_call_reject(call('t2_4'), 'Not that file');
select drive(), tool_call_settle(item(), lease(), call('t2_3'), 'Wrote'), iteration_finish(item(), lease());
select play('[[["step", "Looked and fixed"]]]');
select from journal_log(item(), 'code_generated', '{"language": "sql", "code": "create index", "purpose": "speed"}');
select from journal_log(item(), 'recovery', '{"message": "Connected again"}', 'high');
select claim(), work_complete(item(), 'It is fast', p_lease => lease());
create temporary table j as select * from journal_read(item());

select is((select count(*) from j where entry_type = 'tool_result' and importance = 'high' and content ->> 'errorMessage' = 'failed to see'), 1::bigint, 'a failed result is of high importance');
select is((select bool_and(token_estimate > 0) from j), true, 'the tokens of each entry are estimated');
select model_save(_item_model(item()));
update models set sample_tokens = 3 * sample_tokens;
select is((select bool_and(r.token_estimate between 3 * j.token_estimate - 3 and 3 * j.token_estimate) from j join journal_read(item()) r using (id)), true, 'the estimate follows what the model''s provider counts');
select set_eq($$ select importance from j $$, array['low', 'normal', 'high', 'critical'], 'entries are of all degrees of importance');
select is((select count(*) from journal_read(item(), '-infinity', 3)), 3::bigint, 'the first three entries are read');
select is((select count(*) from journal_read(item(), (select created_at from j where entry_type = 'session_end'))), 1::bigint, 'entries are read from a time on');
select set_eq($$ select entry_type from journal_read(item(), p_importance => '{critical}') $$, array['session_start', 'checkpoint', 'session_end'], 'entries are read by their importance');
select results_eq($$ select status, conversation_id = id::text, entry_count > 20 from work_sessions where id = item() $$, $$ values ('completed', true, true) $$, 'work_sessions has the work as a session');
select is((journal_export(item()) #>> '{session,status}'), 'completed', 'a journal is exported with its session');
select throws_ok($$ select * from journal_read(gen_random_uuid()) $$, 'WL001', null, 'a journal of an item that is not there is an error');

select * from finish();
rollback;
