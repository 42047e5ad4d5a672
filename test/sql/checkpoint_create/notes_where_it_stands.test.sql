-- A checkpoint says what was done, decided and changed, what is open and where the work stands; it is never changed.
begin;
select plan(10);

select tool('write_file', 'idempotent');
select agent('{"tools": ["look", "write_file"], "ledger_nudge_interval": 0, "stall_limit": 0, "max_turns": 500}', '{"awareness": {"enabled": false}}');
select submit('Find why');

select play('[[["plan", "1. look\n2. fix"]], [["decision", "Add an index"]], [["step", "Looked"]]]');
select results_eq($$ select summary, key_decisions, files_modified, pending_actions, ledger_seq from work_checkpoints $$,
  $$ values ('1 steps done. Looked', '["Add an index"]'::jsonb, '[]'::jsonb, '["look", "fix"]'::jsonb, 3) $$, 'a checkpoint has steps, decisions, files and open parts of the plan');
select alike((select current_state from work_checkpoints), '%attempt 1, iteration 3; last step: Looked', 'a checkpoint says where the work stands');
select is((checkpoint_create(item())).trigger, 'manual', 'a checkpoint is made by hand');
select play('[[["write_file", {"path": "a.ts"}]], [["write_file", {"path": "b.ts"}]]]');
select is((checkpoint_create(item())).files_modified, '["b.ts", "a.ts"]', 'a checkpoint has changed files, the newest first');
select play('[[["write_file", {"path": "a.ts"}]]]');
select is((checkpoint_create(item())).files_modified, '["a.ts", "b.ts"]', 'a checkpoint has the files of the one before, too');
select is((checkpoint_latest(item())).entry_count, (select count(*)::integer from work_journal j where j.work_item_id = item() and j.created_at < (checkpoint_latest(item())).created_at),
  'a checkpoint counts what was logged and what calls did');
select tool('deploy', 'unsafe');
select agent('{"tools": ["look", "deploy"], "ledger_nudge_interval": 0, "stall_limit": 0}', '{"awareness": {"enabled": false}}');
select submit('Deploy it');
select drive(), answer('[["deploy", {"to": "production"}]]');
select tool_call_begin(item(), lease(), (select id from tool_calls where tool_name = 'deploy'));
select later('1 hour'), drive(), iteration_finish(item(), lease());
select is((checkpoint_create(item())).pending_actions, '["deploy {\"to\": \"production\"}"]', 'a checkpoint names a call that may have happened');
select throws_ok($$ select checkpoint_create(gen_random_uuid()) $$, 'WL001', null, 'a checkpoint of an item that is not there is refused');
select throws_ok($$ select checkpoint_create(item(), 'mood') $$, 'WL002', null, 'an unknown reason is refused');
select throws_ok($$ update work_checkpoints set summary = 'other' $$, 'WL007', null, 'a checkpoint is never changed');

select * from finish();
rollback;
