-- The API takes no images in a result that is an error: they stand behind all results, with a word on which call they are of.
begin;
select plan(7);

select agent('{"tools": ["look"]}', '{"awareness": {"enabled": false}}');
select submit('Look at the page');
select drive();
select answer('[["look"], ["look"], ["look"]]');
create function pg_temp.settle(p_id text, p_content text, p_is_error boolean) returns void language sql as $$
  select tool_call_settle(item(), lease(), id, p_content, p_is_error, '[{"media_type": "image/png", "data": "aGk="}]') from tool_calls where id = call(p_id) $$;
select pg_temp.settle('t1_1', 'Clicked nothing', true);
select pg_temp.settle('t1_2', '', true);
select pg_temp.settle('t1_3', 'page.png', false);
select from iteration_finish(item(), lease());
create temporary table shown as select b.value::text as block, b.n from context_window(focus()) w, json_array_elements(w.messages -> 2 -> 'content') with ordinality as b(value, n);

select is((select block from shown where n = 1), '{"type":"tool_result","tool_use_id":"t1_1","content":[{"type":"text","text":"Clicked nothing"}],"is_error":true}', 'a result that is an error is text alone');
select is((select block from shown where n = 2), '{"type":"tool_result","tool_use_id":"t1_2","content":[{"type":"text","text":"(no output but an image, which follows)"}],"is_error":true}', 'an error that was an image alone says where it is');
select alike((select block from shown where n = 3), '{"type":"tool_result","tool_use_id":"t1\_3"%"type":"image"%', 'a result that is no error keeps its image');
select is((select array_agg(block order by n) from shown where n in (4, 6)), array[
  '{"type":"text","text":"[engine] From the result of call 1 (look), which failed:"}', '{"type":"text","text":"[engine] From the result of call 2 (look), which failed:"}'], 'behind all results it says which call failed');
select is((select array_agg(block order by n) from shown where n in (5, 7)), array_fill('{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}'::text, array[2]), 'the images of errors follow');
select is((select count(*) from json_array_elements((select result from tool_calls where id = call('t1_1')))), 2::bigint, 'what is stored is the result as it came');

select drive();
select is((select array_agg(array[part, block::text] order by n) from context_parts(turn()) where part in ('result', 'image')), array[['result', '1'], ['result', '1'], ['result', '1'], ['image', '1'], ['image', '1']], 'the images belong to the block of their calls');

select * from finish();
rollback;
