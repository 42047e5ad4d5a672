-- A turn knows what it was granted, what of it was used, how its code ran and how its task stands.
begin;
select plan(6);

select tool('look');
select tool('execute_code', 'idempotent');
select from faculty_save('{"name": "lead", "accepts": ["analyze"], "role": "manager", "persona": "Anna", "awareness": {"refresh_every": 1}, "engage": {"tools": ["look"], "toolset": "readers", "code_execution": true, "workspace": "host", "workspace_dir": "/srv/p", "ledger_nudge_interval": 0}}');
select submit('Find why');
select drive(), answer('[["execute_code", {"code": "return 1"}]]');

select results_eq($$ select task_status, work_item_id from v_sessions $$, $$ select 'running', item() $$, 'a session knows how its task stands');
select results_eq($$ select toolset_name, role, permissions_granted ->> 'workspace', permissions_used from v_turn_tools $$, $$ values ('readers', 'manager', 'host', '{}'::jsonb) $$, 'a turn knows by name what it was granted');
select tool_call_settle(item(), lease(), call('t1_1'), '1', p_code_run => '{"verdict": "ok", "calls": 0, "bytes_seen": 0, "bytes_returned": 1, "duration_ms": 9, "timeout_seconds": 120}');
select is((select code_run ->> 'verdict' from tool_calls), 'ok', 'a call of code knows how it ran');
select is((select permissions_used from v_turn_tools), '{"effects": ["idempotent"]}', 'a turn knows what it used');
select throws_ok($$ select tool_call_settle(item(), lease(), call('t1_1'), '1', p_code_run => '[]') $$, 'WL002', null, 'how code ran is an object');
select from iteration_finish(item(), lease());
select claim(), work_complete(item(), 'Done', p_lease => lease());
select is((select task_status from v_sessions), 'completed', 'a session knows that its task is over');

select * from finish();
rollback;
