begin;
select plan(5);

select from ability_register('look', 'Looks.', '{"type": "object"}', 'pure', 'safe');
select from faculty_save('{"name": "worker", "accepts": ["analyze"], "engage": {"tools": ["look"]}}');
create temporary table item as select * from work_submit('analyze', 'Look at the page');
create temporary table held as select (focus_claim((select id from item), 'worker-1') ->> 'lease')::uuid as lease;
create temporary table begun as select (iteration_begin((select id from item), (select lease from held)) ->> 'turn_id')::uuid as turn_id;
select from turn_record((select id from item), (select lease from held), (select turn_id from begun),
  '{"content": [{"type":"tool_use","id":"a","name":"look","input":{}}, {"type":"tool_use","id":"b","name":"look","input":{}}], "stop_reason": "tool_use"}');

select throws_ok(format($$ select tool_call_settle(%L, %L, %L, 'x', false, '[{"media_type": "text/html", "data": "aGk="}]') $$, (select id from item), (select lease from held), (select id from tool_calls where provider_id = 'a')),
  'WL002', null, 'no other media');
select throws_ok(format($$ select tool_call_settle(%L, %L, %L, 'x', false, '[{"media_type": "image/png", "data": "not base64"}]') $$, (select id from item), (select lease from held), (select id from tool_calls where provider_id = 'a')),
  'WL002', null, 'no other coding');
select tool_call_settle((select id from item), (select lease from held), id, 'page.png', false, '[{"media_type": "image/png", "data": "aGk="}]') from tool_calls where provider_id = 'a';
select tool_call_settle((select id from item), (select lease from held), id, '', false, '[{"media_type": "image/png", "data": "aGk="}]') from tool_calls where provider_id = 'b';
select is((select _with_images(result::text) from tool_calls where provider_id = 'a'),
  '[{"type":"text","text":"page.png"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}]', 'text first, then the image');
select is((select _with_images(result::text) from tool_calls where provider_id = 'b'),
  '[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}]', 'or the image alone');
select from iteration_finish((select id from item), (select lease from held));
select is((select messages -> 2 -> 'content' -> 0 -> 'content' -> 1 ->> 'type' from context_window((select id from foci))), 'image', 'the model is shown it');

select * from finish();
rollback;
