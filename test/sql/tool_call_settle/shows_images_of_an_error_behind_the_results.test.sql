begin;
select plan(7);

select agent('{"tools": ["look"]}', '{"awareness": {"enabled": false}}');
select submit('Look at the page');
select drive();
select from turn_record(item(), lease(), turn(),
  '{"content": [{"type":"tool_use","id":"a","name":"look","input":{}}, {"type":"tool_use","id":"b","name":"look","input":{}}, {"type":"tool_use","id":"c","name":"look","input":{}}], "stop_reason": "tool_use"}');
create function pg_temp.settle(p_id text, p_content text, p_is_error boolean) returns void language sql as $$
  select tool_call_settle(item(), lease(), id, p_content, p_is_error, '[{"media_type": "image/png", "data": "aGk="}]') from tool_calls where provider_id = p_id $$;
select pg_temp.settle('a', 'Clicked nothing', true);
select pg_temp.settle('b', '', true);
select pg_temp.settle('c', 'page.png', false);
select from iteration_finish(item(), lease());
create temporary table shown as select b.value::text as block, b.n from foci f, context_window(f.id) w, json_array_elements(w.messages -> 2 -> 'content') with ordinality as b(value, n);

select is((select block from shown where n = 1), '{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"Clicked nothing"}],"is_error":true}', 'a result that is an error is text alone');
select is((select block from shown where n = 2), '{"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"(no output but an image, which follows)"}],"is_error":true}', 'one that was an image alone says where it is');
select alike((select block from shown where n = 3), '{"type":"tool_result","tool_use_id":"c"%"type":"image"%', 'one that is no error keeps its image');
select is((select array_agg(block order by n) from shown where n in (4, 6)), array[
  '{"type":"text","text":"[engine] From the result of call 1 (look), which failed:"}', '{"type":"text","text":"[engine] From the result of call 2 (look), which failed:"}'], 'behind all results it says which call');
select is((select array_agg(block order by n) from shown where n in (5, 7)), array_fill('{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}'::text, array[2]), 'the images follow');
select is((select count(*) from json_array_elements((select result from tool_calls where provider_id = 'a'))), 2::bigint, 'what is stored is the result as it came');

create temporary table next as select (iteration_begin(id, (focus_claim(id, 'worker-1') ->> 'lease')::uuid) ->> 'turn_id')::uuid as turn_id from item;
select is((select array_agg(array[part, block::text] order by n) from next, context_parts(turn_id) where part in ('result', 'image')), array[['result', '1'], ['result', '1'], ['result', '1'], ['image', '1'], ['image', '1']], 'and belong to the block of their calls');

select * from finish();
rollback;
