-- A turn knows as what, as whom and where it was answered, how long that took, and where each of its messages is from.
begin;
select plan(8);

select tool('look');
select tool('execute_code', 'idempotent');
select from faculty_save('{"name": "lead", "accepts": ["analyze"], "role": "manager", "persona": "Anna", "awareness": {"refresh_every": 1}, "engage": {"tools": ["look"], "toolset": "readers", "code_execution": true, "workspace": "host", "workspace_dir": "/srv/p", "ledger_nudge_interval": 0}}');
create temporary table other as select * from work_submit('x', 'Something else');
select from ledger_append((select id from other), 'finding', 'It rains');
select take(work_submit('analyze', 'Find why', p_source => 'webhook'));
select from work_message(item(), 'Only the tests');
select drive(), turn_record(item(), lease(), turn(),
  '{"stop_reason": "tool_use", "stop_details": null, "duration_ms": 1234, "first_token_ms": 56, "usage": {"output_tokens": 1},
    "content": [{"type": "text", "text": "So:\n```ts src/a.ts:10-20\nx\n```\n```12:15:b.py\ny\n```\n```sql\nz\n```"}, {"type": "tool_use", "id": "c", "name": "look", "input": {}}]}');

select results_eq($$ select role, workspace_path, duration_ms, first_token_ms from turns $$, $$ values ('manager', '/srv/p', 1234, 56) $$, 'a turn knows as what and where it was answered, and how long it took');
select is((select count(*) from turns where error is not null), 0::bigint, 'a turn that was answered has no error');
select is((select persona_id from sessions), 'Anna', 'a session knows as whom it speaks');
select is((select persona_id from threads), 'Anna', 'a thread knows as whom it speaks');
select results_eq($$ select source::text, metadata ->> 'kind', context ->> 'work_item' = item()::text, context #>> '{shown,0,0}' = (select id::text from other) from messages where role = 'user' order by sequence limit 1 $$,
  $$ values ('webhook', 'task', true, true) $$, 'a task comes from where its item does, with what was put in');
select is((select context ->> 'inbox' from messages where source = 'human'), (select id::text from inbox), 'a message of a person knows where it lay');
select results_eq($$ select language, file_path, line_start, line_end from message_codeblocks order by idx $$,
  $$ values ('ts', 'src/a.ts', 10, 20), (null, 'b.py', 12, 15), ('sql', null, null, null) $$, 'code in a response has its language, its file and its lines');
select throws_ok($$ select faculty_save('{"name": "x", "role": "boss"}') $$, 'WL002', null, 'an unknown role is refused');

select * from finish();
rollback;
