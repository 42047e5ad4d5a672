begin;
select plan(14);

select tool('look');
select tool('execute_code', 'idempotent');
select from faculty_save('{"name": "lead", "accepts": ["analyze"], "role": "manager", "persona": "Anna", "awareness": {"refresh_every": 1}, "engage": {"tools": ["look"], "toolset": "readers", "code_execution": true, "workspace": "host", "workspace_dir": "/srv/p", "ledger_nudge_interval": 0}}');
select throws_ok($$ select faculty_save('{"name": "x", "role": "boss"}') $$, 'WL002', null, 'a role is one of three');
create temporary table other as select * from work_submit('x', 'Something else');
select from ledger_append((select id from other), 'finding', 'It rains');
select take(work_submit('analyze', 'Find why', p_source => 'webhook'));
select from work_message(item(), 'Only the tests');
create temporary table made as
  select l.lease, (iteration_begin(item(), l.lease) ->> 'turn_id')::uuid as turn_id
    from (select (focus_claim(item(), 'w') ->> 'lease')::uuid as lease offset 0) l;
select from turn_record(item(), (select lease from made), (select turn_id from made),
  '{"stop_reason": "tool_use", "stop_details": null, "duration_ms": 1234, "first_token_ms": 56, "usage": {"output_tokens": 1},
    "content": [{"type": "text", "text": "So:\n```ts src/a.ts:10-20\nx\n```\n```12:15:b.py\ny\n```\n```sql\nz\n```"}, {"type": "tool_use", "id": "c", "name": "execute_code", "input": {"code": "return 1"}}]}');

select results_eq($$ select role, workspace_path, duration_ms, first_token_ms from turns $$, $$ values ('manager', '/srv/p', 1234, 56) $$, 'a turn: as what, where, how long');
select is((select count(*) from turns where error is not null), 0::bigint, 'without an error there is none');
select is((select persona_id from sessions), 'Anna', 'a session: as whom');
select is((select persona_id from threads), 'Anna', 'and its turns');
select results_eq($$ select source::text, metadata ->> 'kind', context ->> 'work_item' = (select id::text from item), context #>> '{shown,0,0}' = (select id::text from other) from messages where role = 'user' order by sequence limit 1 $$,
  $$ values ('webhook', 'task', true, true) $$, 'a task comes from where its item does, with what was put in');
select is((select context ->> 'inbox' from messages where source = 'human'), (select id::text from inbox), 'a message, from where it lay');
select results_eq($$ select task_status, work_item_id from v_sessions $$, $$ select 'running', id from item $$, 'how its task stands');
select results_eq($$ select toolset_name, role, permissions_granted ->> 'workspace', permissions_used from v_turn_tools $$, $$ values ('readers', 'manager', 'host', '{}'::jsonb) $$, 'what it was granted, by name');
select results_eq($$ select language, file_path, line_start, line_end from message_codeblocks order by idx $$,
  $$ values ('ts', 'src/a.ts', 10, 20), (null, 'b.py', 12, 15), ('sql', null, null, null) $$, 'code, its file and its lines');

select tool_call_settle(item(), (select lease from made), (select id from tool_calls), '1', p_code_run => '{"verdict": "ok", "calls": 0, "bytes_seen": 0, "bytes_returned": 1, "duration_ms": 9, "timeout_seconds": 120}');
select is((select code_run ->> 'verdict' from tool_calls), 'ok', 'how code ran');
select is((select permissions_used from v_turn_tools), '{"effects": ["idempotent"]}', 'and what that was');
select throws_ok($$ select tool_call_settle(item(), (select lease from made), (select id from tool_calls), '1', p_code_run => '[]') $$, 'WL002', null, 'an object');
select from iteration_finish(item(), (select lease from made));
select from work_complete(item(), 'Done', p_lease => (focus_claim(item(), 'w') ->> 'lease')::uuid);
select is((select task_status from v_sessions), 'completed', 'and it is over');

select * from finish();
rollback;
