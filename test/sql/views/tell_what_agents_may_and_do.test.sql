-- v_budgets, v_leases, v_missing_tools, v_exchanges, v_turn_tools.
begin;
select plan(12);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select tool('look'), tool('edit_file', 'unsafe', 'dangerous');
select from faculty_save('{"name": "old", "accepts": ["old"], "engage": {"tools": ["gone"]}}');
select from faculty_save('{"name": "old", "accepts": ["old"], "engage": {"tools": ["look"]}}');
select from faculty_save('{"name": "worker", "accepts": ["analyze"], "awareness": {"enabled": false}, "engage": {"tools": ["look", "edit_file", "later"], "toolset": "careful",
  "code_execution": true, "require_approval": "dangerous", "max_children": 3, "max_output_tokens": 4000}}');
select take(work_submit('analyze', 'Find why the import is slow', p_budget => '{"calls": 3, "tokens": 100}'));

select results_eq($$ select faculty, tool from v_missing_tools order by 1, 2 $$, $$ values ('worker', 'execute_code'), ('worker', 'later') $$, 'v_missing_tools: what a current faculty names and nobody has registered');
select tool('later');
select is((select array_agg(tool) from v_missing_tools), array['execute_code'], 'v_missing_tools: what somebody has registered is not in it');

create temporary table held as select (focus_claim(item(), 'worker-1', 60) ->> 'lease')::uuid as lease, null::uuid as turn;
select results_eq($$ select work_item_id, faculty, attempt, iteration, lease_owner, lease_generation, lease_expires_at, is_expired from v_leases $$,
  $$ select id, 'worker', 1, 1, 'worker-1', 1, timestamptz '2026-11-20 12:01:00+00', false from item $$, 'v_leases: who drives what, and until when');
set local work_ledger.now = '2026-11-20 12:01:00+00';
select is((select is_expired from v_leases), true, 'v_leases: a lease that was not renewed has expired');

select from budget_set(item(), 'tokens', 50000);
update held set turn = (iteration_begin(item(), lease) ->> 'turn_id')::uuid;
select results_eq($$ select resource::text, amount, spent, reserved > 0, remaining = amount - reserved from v_budgets order by 1 $$,
  $$ values ('calls', 3::numeric, 0::numeric, true, true), ('tokens', 50000, 0, true, true) $$, 'v_budgets: while the model is asked, what it may use is reserved');
select from held, turn_record(item(), lease, turn, '{"model": "claude-sonnet-5-5", "stop_reason": "tool_use", "usage": {"input_tokens": 3000, "output_tokens": 200}, "content": [
  {"type": "thinking", "thinking": "Hm", "signature": "s"}, {"type": "text", "text": "I look at it."}, {"type": "text", "text": "And fix it."},
  {"type": "tool_use", "id": "a", "name": "look", "input": {}}, {"type": "tool_use", "id": "b", "name": "edit_file", "input": {"path": "a.ts"}}]}');
select from held, tool_calls k, tool_call_settle(item(), lease, k.id, 'seen') where k.provider_id = 'a';
select results_eq($$ select resource::text, spent, reserved, remaining from v_budgets order by 1 $$,
  $$ values ('calls', 1::numeric, 0::numeric, 2::numeric), ('tokens', 3200, 0, 46800) $$, 'v_budgets: when the model has answered, what it used is spent');
select from budget_set(item(), 'tokens', 1000);
select is((select remaining from v_budgets where resource = 'tokens'), 0::numeric, 'v_budgets: less than nothing is never left');

select results_eq($$ select depth, model, total_tokens, answered, called from v_exchanges $$,
  $$ values (0, 'claude-sonnet-5-5', 3200, E'I look at it.\n\nAnd fix it.', array['look', 'edit_file']) $$, 'v_exchanges: what the model said, without its thinking, and called');
select alike((select said from v_exchanges), '%Find why the import is slow%', 'v_exchanges: what the model was told');

select results_eq($$ select role, toolset_name, tools_used, permissions_granted ->> 'require_approval', permissions_granted -> 'max_children', permissions_used from v_turn_tools $$,
  $$ values ('unified', 'careful', array['edit_file', 'look'], 'dangerous', '3'::jsonb, '{"effects": ["pure"]}'::jsonb) $$, 'v_turn_tools: what a turn called, was allowed, and did so far');
select ok((select tools_available @> array['look', 'edit_file', 'later', 'ledger_append'] and not tools_available && array['execute_code', 'gone'] from v_turn_tools), 'v_turn_tools: what a turn was offered');
select from tool_calls k, tool_call_approve(k.id) where k.provider_id = 'b';
select from held, iteration_finish(item(), lease);
update held set lease = (focus_claim(item(), 'w') ->> 'lease')::uuid;
select from held, iteration_begin(item(), lease);
select from held, tool_calls k, tool_call_begin(item(), lease, k.id) where k.provider_id = 'b';
select from held, tool_calls k, tool_call_settle(item(), lease, k.id, 'edited') where k.provider_id = 'b';
select is((select permissions_used from v_turn_tools), '{"effects": ["pure", "unsafe"], "approved": ["edit_file"], "changed": ["a.ts"]}', 'v_turn_tools: what a turn changed, once it was approved');

select * from finish();
rollback;
