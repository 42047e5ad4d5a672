-- Puts a row at least into every table of the ledger on the search path that every version has: for tests of what a dump or an upgrade
-- carries over.

select ability_register('look', 'Looks.', '{"type": "object"}', 'pure', 'safe', p_touches => '[{"key": "at", "action": "read"}]');
select ability_register('erase', 'Erases.', '{"type": "object"}', 'unsafe', 'dangerous');
select faculty_save('{"name": "worker", "accepts": ["analyze"], "orient": {"command": "true"}, "budget": {"calls": 100}, "engage": {"tools": ["look", "erase"], "require_approval": "dangerous", "elide_budget": 0, "compact_keep_recent": 0}}');
select ledger_append((work_submit('other', 'Something else')).id, 'finding', 'Found elsewhere');
select ledger_data_schema_save('note', '{"type": "object"}');
select session_alias('also', (session_create('main')).label);
select id from work_submit('analyze', 'Find why the nightly import is slow');
select lease_renew('worker-1', '{}', '{}');
do $do$
declare
  v_item uuid := (select id from work_items where work_type = 'analyze');
  v_lease uuid;
  v_turn uuid;
  v_call json;
begin
  for v_n in 1..3 loop -- the step of the second response closes the block of the first
    v_lease := (focus_claim(v_item, 'worker-1') ->> 'lease')::uuid;
    perform iteration_begin(v_item, v_lease);
    perform hook_record(v_item, v_lease, h.id, '{"exit_code": 0}') from hook_runs h where v_n = 1;
    v_turn := (iteration_begin(v_item, v_lease) ->> 'turn_id')::uuid;
    perform turn_record(v_item, v_lease, v_turn, format('{"content": [
      {"type": "tool_use", "id": "a", "name": "look", "input": {"at": "a.ts"}},
      {"type": "tool_use", "id": "b", "name": "ledger_append", "input": {"entry_type": "%s", "content": "Looked"}}], "stop_reason": "tool_use"}',
      case v_n when 2 then 'step' else 'note' end)::json);
    perform tool_call_settle(v_item, v_lease, k.id, repeat('seen ', 20000)) from tool_calls k where k.turn_id = v_turn and tool_name = 'look';
    perform tool_call_execute(v_item, v_lease, k.id) from tool_calls k where k.turn_id = v_turn and tool_name = 'ledger_append';
    perform iteration_finish(v_item, v_lease);
  end loop;
  v_lease := (focus_claim(v_item, 'worker-1') ->> 'lease')::uuid;
  perform work_complete((spawn_child_work(v_item, 'analyze', 'A part of it', p_lease => v_lease)).id, 'Found');
  perform turn_workspace_set(v_turn, 'commit 3f2a'), journal_log(v_item, 'user_feedback', '{"message": "good"}'), checkpoint_create(v_item);
  perform message_lints_save(id, '[{"message": "unused"}]') from messages limit 1;
  perform session_import('{"format": "codex", "sessionId": "s", "exchanges": [], "raw": [{"line": 1, "reason": "event", "content": "{}"}]}');
  perform iteration_release(v_item, v_lease);
  perform model_save('claude-sonnet-5-5', 200000), context_compact(v_item);
  v_lease := (focus_claim(v_item, 'worker-1') ->> 'lease')::uuid;
  v_turn := (iteration_begin(v_item, v_lease) ->> 'turn_id')::uuid;
  perform turn_record(v_item, v_lease, v_turn, '{"content": [{"type": "tool_use", "id": "c", "name": "erase", "input": {}}], "stop_reason": "tool_use"}');
end
$do$;
select count(*) from work_metrics_take();
select trace_take(id) from foci order by id limit 1;
select ledger_append((work_submit('other', 'Something secret')).id, 'note', 'The key is sk-' || 'ant-api03-' || repeat('aB3_', 10));
select ledger_retract(work_item_id, seq, 'It was another key') from work_ledger where content ~ 'The key is';
select retention_policy_save('3650 days'), work_retention_run(), work_sweep();
insert into retention_runs (root_id, error) select id, 'the export failed' from work_items where work_type = 'analyze' limit 1;
do $do$
declare
  v_item uuid := (select id from work_submit('other', 'Something that goes'));
begin
  perform work_complete(v_item, 'Gone');
  perform count(*) from work_erase(v_item, 'It was to go');
end
$do$;
do $do$ begin if to_regclass('linked_digests') is not null then insert into linked_digests (name, read_as, version, digest) values ('shop', 'postgres', '0.2.0', 'What goes on there'); end if; end $do$;
do $do$ begin if to_regclass('claims') is not null then perform claim_check(id, array['/shop/a.ts']) from journal_session_open('claims', 'An edit', '/shop'); end if; end $do$;
do $do$ begin if to_regclass('projects') is not null then insert into projects (name, renamed_to, claims) values ('/home/me/shop', 'shop', 'warn'); end if; end $do$;
do $do$ begin if to_regclass('daily_budgets') is not null then perform daily_budget_set('tokens', 1000000000, 'shop'); end if; end $do$;
do $do$ begin if to_regclass('memory_files') is not null then perform memory_write('/memories/a.md', 'A note', 'shop'), memory_write('/memories/a.md', 'Another', 'shop', 1); perform memory_command('{"command": "view", "path": "/memories/a.md"}', 'shop', p_reader => 'anna'); end if; end $do$;
do $do$ begin if to_regclass('subscriptions') is not null then insert into subscriptions (work_item_id, kind, target) select id, 'text', 'flaky' from work_items order by id limit 1; end if; end $do$;
do $do$ begin if to_regclass('transcripts') is not null then perform transcript_append('-home', 'kept', null, '[{"type": "user"}]', '{u1}'); end if; end $do$;
do $do$ begin if to_regclass('followed_files') is not null then perform followed_file_read(repeat('0a', 32), '12 bytes'); end if; end $do$;
do $do$ begin if to_regclass('work_hours') is not null then perform set_config('work_ledger.now', (now() + interval '5 minutes')::text, true), work_hours_sum(); end if; end $do$;
