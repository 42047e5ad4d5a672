-- A result may have images, of the media that the API takes.
begin;
select plan(5);

select agent('{"tools": ["look"]}');
select submit('Look at the page');
select drive();
select answer('[["look"], ["look"]]');

select throws_ok($$ select tool_call_settle(item(), lease(), call('t1_1'), 'x', false, '[{"media_type": "text/html", "data": "aGk="}]') $$,
  'WL002', null, 'an image of another medium is refused');
select throws_ok($$ select tool_call_settle(item(), lease(), call('t1_1'), 'x', false, '[{"media_type": "image/png", "data": "not base64"}]') $$,
  'WL002', null, 'an image in another coding is refused');
select tool_call_settle(item(), lease(), id, 'page.png', false, '[{"media_type": "image/png", "data": "aGk="}]') from tool_calls where id = call('t1_1');
select tool_call_settle(item(), lease(), id, '', false, '[{"media_type": "image/png", "data": "aGk="}]') from tool_calls where id = call('t1_2');
select is((select _with_images(result::text) from tool_calls where id = call('t1_1')),
  '[{"type":"text","text":"page.png"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}]', 'a result with text has the text first, then the image');
select is((select _with_images(result::text) from tool_calls where id = call('t1_2')),
  '[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}]', 'a result without text has the image alone');
select from iteration_finish(item(), lease());
select is((select messages -> 2 -> 'content' -> 0 -> 'content' -> 1 ->> 'type' from context_window(focus())), 'image', 'the model is shown it');

select * from finish();
rollback;
