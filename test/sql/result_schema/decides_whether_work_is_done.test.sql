-- A result that does not fit goes back to the model with all that is wrong, three times; then the item fails with it. One that fits is the outcome.
begin;
select plan(17);

select agent('{"tools": ["look"], "ledger_nudge_interval": 0, "elide_budget": 0}',
  '{"awareness": {"enabled": false}, "result_schema": {"type": "object", "properties": {"cause": {"type": "string"}, "rows": {"type": "integer"}}, "required": ["cause", "rows"], "additionalProperties": false}}');
select submit();
create temporary table parent as select item() as id;
select play('[[["work_complete", {"summary": "Done", "result": {"cause": 1}}]]]');
select is((select body -> 'tools' from request where n = 1)::jsonb @? '$[*] ? (@.name == "work_complete").input_schema.properties.result.properties.cause', true, 'the agent is told what its result must look like');
select is((select state from item), 'running', 'a wrong result is none');
select play('[["Done"]]');
select is((select state from item) <> 'completed', true, 'nor is an end without one');
select play('[[["work_complete", {"summary": "Done", "result": {"cause": "no index", "rows": 5}}]]]');
select alike((select body::text from request where n = 2), '%result.cause must be string, not number%', 'the model hears what is wrong');
select alike((select body::text from request where n = 2), '%result needs%rows%', 'all of it');
select alike((select body::text from request where n = 3), '%this work must end with work_complete and a result%', 'and that an end needs a result');
select is((select state from item), 'completed', 'one that fits ends the work');
select is((select outcome_data -> 'result' from item), '{"cause": "no index", "rows": 5}', 'it is the outcome');

select submit('Wrong four times');
select play('[[["work_complete", {"summary": "Done"}]], [["work_complete", {"summary": "Done", "result": 1}]], [["work_complete", {"summary": "Done", "result": []}]]]');
select is((select state from item) in ('queued', 'running'), true, 'three times it may try again');
select play('[[["work_complete", {"summary": "Done", "result": {"cause": "x", "rows": "y"}}]]]');
select results_eq('select state, outcome_data -> ''result_errors'' from item', $$ values ('failed', '["result.rows must be integer, not string"]'::jsonb) $$, 'the fourth time the item fails with what was wrong');

select take(work_submit('analyze', 'Of its own', p_result_schema => '{"type": "integer"}'));
select throws_ok($$ select work_complete(item(), 'Done') $$, 'WL002', null, 'a program brings one, too');
select throws_ok($$ select work_complete(item(), 'Done', p_result => '"x"') $$, 'WL002', E'the result does not fit its schema:\n- result must be integer, not string', 'of the item''s own schema, which goes before the faculty''s');
select is((select (work_complete(item(), 'Done', p_result => '7')).outcome_data), '{"summary": "Done", "evidence": [], "result": 7}', 'and it is the outcome');
select is((work_continue(item(), 'And twice that?')).result_schema, '{"type": "integer"}', 'what goes on has the same schema');

select agent('{"tools": ["look"]}', '{"awareness": {"enabled": false}}');
select submit('Delegate');
create temporary table part as select id from work_submit('analyze', 'A part', p_parent_id => item(), p_result_schema => '{"type": "array"}');
select from work_complete((select id from part), 'Counted', p_result => '[1, 2]');
select drive();
select alike((select body::text from request order by n desc limit 1), '%Counted\\nResult: [1, 2]%', 'a parent has the result of its child as JSON');
select is(_result_schema_of((select w from work_items w where w.id = item())), null, 'without a schema nothing is asked');
select lives_ok($$ select work_complete((select id from work_submit('other', 'Free')), 'Done', p_result => '{"any": true}') $$, 'and any result is taken');

select * from finish();
rollback;
