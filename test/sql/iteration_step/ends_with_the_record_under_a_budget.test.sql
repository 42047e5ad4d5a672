-- Budgets are locked behind what the end of an iteration locks: an item that draws on one ends its iteration in another transaction.
begin;
select plan(4);

select agent('{"tools": ["look"]}');
select take(submit('Look'));
select from budget_set(item(), 'tokens', 1000000);
select drive();
create temporary table told as
select iteration_step(item(), lease(), 1, 0, turn(), '{"stop_reason": "tool_use", "usage": {"input_tokens": 10, "output_tokens": 2},
    "content": [{"type": "tool_use", "id": "t1", "name": "look", "input": {}}]}',
  '[{"ordinal": 0, "id": "a0000000-0000-4000-8000-000000000001", "content": "SEEN", "is_error": false}]') as says;

select is((select says::text::jsonb - 'turn_id' from told), '{"kind": "run_tools", "calls": [], "waiting": []}', 'the record ends it');
select is((select format('%s %s', spent, reserved) from budgets where work_item_id = item() and resource = 'tokens'), '12 0', 'it is charged');
select is((select status from tool_calls), 'completed', 'the result is stored');
select is(iteration_step(item(), lease(), 1, 0) #>> '{next,kind}', 'call_model', 'and the next call goes on');

select * from finish();
rollback;
