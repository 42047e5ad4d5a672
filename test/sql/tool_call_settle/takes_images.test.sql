begin;
select plan(5);

select agent('{"tools": ["look"]}');
select submit('Look at the page');
select drive();
select from turn_record(item(), lease(), turn(),
  '{"content": [{"type":"tool_use","id":"a","name":"look","input":{}}, {"type":"tool_use","id":"b","name":"look","input":{}}], "stop_reason": "tool_use"}');

select throws_ok(format($$ select tool_call_settle(%L, %L, %L, 'x', false, '[{"media_type": "text/html", "data": "aGk="}]') $$, item(), lease(), (select id from tool_calls where provider_id = 'a')),
  'WL002', null, 'no other media');
select throws_ok(format($$ select tool_call_settle(%L, %L, %L, 'x', false, '[{"media_type": "image/png", "data": "not base64"}]') $$, item(), lease(), (select id from tool_calls where provider_id = 'a')),
  'WL002', null, 'no other coding');
select tool_call_settle(item(), lease(), id, 'page.png', false, '[{"media_type": "image/png", "data": "aGk="}]') from tool_calls where provider_id = 'a';
select tool_call_settle(item(), lease(), id, '', false, '[{"media_type": "image/png", "data": "aGk="}]') from tool_calls where provider_id = 'b';
select is((select _with_images(result::text) from tool_calls where provider_id = 'a'),
  '[{"type":"text","text":"page.png"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}]', 'text first, then the image');
select is((select _with_images(result::text) from tool_calls where provider_id = 'b'),
  '[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}]', 'or the image alone');
select from iteration_finish(item(), lease());
select is((select messages -> 2 -> 'content' -> 0 -> 'content' -> 1 ->> 'type' from context_window((select id from foci))), 'image', 'the model is shown it');

select * from finish();
rollback;
