-- The API refuses a text block that is nothing but white space: next to an image blank text is left out, and a response's is not sent again.
begin;
select plan(6);

select agent('{"tools": ["look"]}', '{"awareness": {"enabled": false}}');
select submit('Look at the page');
select drive();
select answer(json_build_array(json_build_object('type', 'text', 'text', E'\ufeff\u00a0'), json_build_array('look'), json_build_array('look'))::jsonb);
create function pg_temp.settle(p_id text, p_content text, p_is_error boolean) returns void language sql as $$
  select tool_call_settle(item(), lease(), id, p_content, p_is_error, '[{"media_type": "image/png", "data": "aGk="}]') from tool_calls where id = call(p_id) $$;
select pg_temp.settle('t1_2', E' \n', false);
select pg_temp.settle('t1_3', E'\u00a0', true);
select from iteration_finish(item(), lease());
create temporary table shown as
  select w.messages -> 1 -> 'content' -> 0 ->> 'type' as first, b.value::text as block, b.n
    from context_window(focus()) w, json_array_elements(w.messages -> 2 -> 'content') with ordinality as b(value, n);

select is((select json_typeof(result -> 0) || ' ' || json_array_length(result) from tool_calls where id = call('t1_2')), 'object 1', 'a blank line next to an image is left out');
select alike((select block from shown where n = 1), '{"type":"tool\_result","tool\_use\_id":"t1\_2","content":[{"type":"image"%', 'the result is the image');
select is((select block from shown where n = 2), '{"type":"tool_result","tool_use_id":"t1_3","content":[{"type":"text","text":"(no output but an image, which follows)"}],"is_error":true}', 'so it is in an error');
select is((select first from shown where n = 1), 'tool_use', 'a response without its blank text begins with its call');
select is(_is_blank(E'\u00a0\u2003\u2028\u3000\ufeff \n\t\u001f' collate "C"), true, 'white space is the same in every locale');
select is(_is_blank(E'\u00a0.' collate "C"), false, 'one letter is not blank');

select * from finish();
rollback;
