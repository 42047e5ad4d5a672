begin;
select plan(11);

select agent();
select submit('Mend it');
create function pg_temp.state() returns text language sql as $$ select state from work_items where id = item() $$;

select is((select state from work_pause(item(), 'not now')), 'paused', 'one that nobody drives is paused at once');
select is((select state_reason from work_items), 'not now', 'with the reason');
select is(focus_claim(item(), 'w') ->> 'kind', 'not_due', 'and not worked on');
select is((select state from work_resume(item())), 'queued', 'until it is resumed');

select drive();
select ok((select is_pausing and state = 'running' from work_pause(item())), 'one that is driven goes on to the end of its iteration');
select from turn_record(item(), lease(), turn(),
  '{"content": [{"type":"tool_use","id":"a","name":"ledger_append","input":{"entry_type":"note","content":"n"}}], "stop_reason": "tool_use"}');
select tool_call_execute(item(), lease(), id) from tool_calls;
select is(iteration_finish(item(), lease()) ->> 'kind', 'continued', 'which is not disturbed');
select is(focus_claim(item(), 'w') ->> 'state', 'paused', 'then it is paused');
select is(pg_temp.state(), 'paused', 'for whoever looks');
select is((select state from work_resume(item())), 'queued', 'and goes on where it stopped');
select is(focus_claim(item(), 'w') ->> 'iteration', '2', 'with the next iteration');
select from work_cancel(item());
select throws_ok($$ select work_pause(item()) $$, 'WL003', null, 'one that is over is not paused');

select * from finish();
rollback;
