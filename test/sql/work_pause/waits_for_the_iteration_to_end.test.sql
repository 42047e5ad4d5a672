begin;
select plan(11);

select from faculty_save('{"name": "worker", "accepts": ["analyze"]}');
create temporary table item as select * from work_submit('analyze', 'Mend it');
create function pg_temp.state() returns text language sql as $$ select state from work_items where id = (select id from item) $$;

select is((select state from work_pause((select id from item), 'not now')), 'paused', 'one that nobody drives is paused at once');
select is((select state_reason from work_items), 'not now', 'with the reason');
select is(focus_claim((select id from item), 'w') ->> 'kind', 'not_due', 'and not worked on');
select is((select state from work_resume((select id from item))), 'queued', 'until it is resumed');

create temporary table held as select (focus_claim((select id from item), 'w') ->> 'lease')::uuid as lease;
create temporary table begun as select (iteration_begin((select id from item), (select lease from held)) ->> 'turn_id')::uuid as turn_id;
select ok((select is_pausing and state = 'running' from work_pause((select id from item))), 'one that is driven goes on to the end of its iteration');
select from turn_record((select id from item), (select lease from held), (select turn_id from begun),
  '{"content": [{"type":"tool_use","id":"a","name":"ledger_append","input":{"entry_type":"note","content":"n"}}], "stop_reason": "tool_use"}');
select tool_call_execute((select id from item), (select lease from held), id) from tool_calls;
select is(iteration_finish((select id from item), (select lease from held)) ->> 'kind', 'continued', 'which is not disturbed');
select is(focus_claim((select id from item), 'w') ->> 'state', 'paused', 'then it is paused');
select is(pg_temp.state(), 'paused', 'for whoever looks');
select is((select state from work_resume((select id from item))), 'queued', 'and goes on where it stopped');
select is(focus_claim((select id from item), 'w') ->> 'iteration', '2', 'with the next iteration');
select from work_cancel((select id from item));
select throws_ok($$ select work_pause((select id from item)) $$, 'WL003', null, 'one that is over is not paused');

select * from finish();
rollback;
