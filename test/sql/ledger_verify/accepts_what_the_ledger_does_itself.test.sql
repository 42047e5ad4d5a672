-- What the ledger does by itself leaves every chain valid: retractions, redaction, forks, compactions, children, imports, erasing, tasks of others.
begin;
select plan(9);

select agent('{"tools": ["look"], "compact_keep_recent": 2, "elide_budget": 0, "keep_auto": 0, "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select submit('First');
create temporary table first as select item() as id;
select play(format('[[["look", "%s"], ["finding", "The key is sk-ant-api03-%s"]]]', repeat('seen ', 4000), repeat('aB3_', 8))::jsonb, p_more => '{"usage": {}}')
  from generate_series(1, 3);
select is_empty($$ select * from ledger_verify() $$, 'work under way, with a secret that was taken out');
select context_compact(item());
select play('[[["look"], ["step", "Looked"]], ["done"]]');
select ledger_retract(item(), 1, 'It was another');
select cmp_ok((select count(*) from compactions), '>', 0::bigint, 'there was a compaction');
select is_empty($$ select * from ledger_verify() $$, 'a compaction, an end, a retraction');

select take((work_fork((select t.id from turns t where t.turn_type = 'normal' order by t.id limit 1), 'Try without')).id);
select play('[[["finding", "Without"]], ["done"]]');
select is_empty($$ select * from ledger_verify() $$, 'a fork');

select session_import('{"format": "codex", "sessionId": "s", "prompt": "Fix", "exchanges": [
  {"id": "a", "text": "First", "calls": [{"id": "c", "name": "look", "input": {}}]}]}');
select is_empty($$ select * from ledger_verify() $$, 'a recorded run');
select session_import('{"format": "codex", "sessionId": "s", "prompt": "Fix", "exchanges": [
  {"id": "a", "text": "First\n\nand more", "calls": [{"id": "c", "name": "look", "input": {}, "result": "seen"}, {"id": "d", "name": "look", "input": {}, "result": "seen"}]},
  {"id": "b", "text": "Second", "calls": []}]}');
select is_empty($$ select * from ledger_verify() $$, 'one that has grown');

select os_task('t'), os_message('m', 't', 'user', 'Hello', 1700000000000), os_task('t', '{"completionStatus": "success"}');
select os_message('n', 't', 'assistant', 'Afterwards', 1700000001000), os_task('t', '{"completionStatus": "success", "systemPrompt": "Other"}');
select is_empty($$ select * from ledger_verify() $$, 'a task of Agent OS, to which something is added after its end');

select from work_erase((select id from first), p_with_forks => true);
select is_empty($$ select * from ledger_verify() $$, 'an erased tree');
select results_eq($$ select distinct content from work_ledger $$, $$ values ('[erased]') $$, 'whose words are gone');

select * from finish();
rollback;
