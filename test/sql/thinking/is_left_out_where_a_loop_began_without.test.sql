-- A budget for thinking asks for a tool loop that begins with thinking: where a cut left one that does not, the request goes without.
begin;
select plan(6);

create function pg_temp.say(p_step text, p_thought text) returns text language sql as $$
  select play(jsonb_build_array(
    case when p_thought is null then '[]'::jsonb else jsonb_build_array(json_build_object('type', 'thinking', 'thinking', p_thought, 'signature', 's')) end
    || case when p_step is null then '[]'::jsonb else jsonb_build_array(jsonb_build_array('step', p_step)) end || jsonb_build_array(jsonb_build_array('look', repeat('x', 6000))))) $$;
select agent('{"tools": ["look"], "elide_budget": 1000, "keep_auto": 0, "ledger_nudge_interval": 0, "model": "claude-opus-4-6", "thinking": 2000}', '{"awareness": {"enabled": false}}');
select submit('Fix it');
select pg_temp.say(null, 'one'), pg_temp.say('Looked', 'two'), pg_temp.say(null, null), pg_temp.say('Looked again', null);
select drive();

select is((select array_agg(elision_id is not null order by iteration) from turns where work_item_id = item()), array[false, false, true, true, true], 'two cuts');
select is((select array_agg(body #>> '{thinking,type}' order by n) from request), array['enabled', 'enabled', 'enabled', 'enabled', null], 'behind one whose response thought nothing the request has no budget');
select answer('[["look"]]'), run(), iteration_finish(item(), lease());
select work_message(item(), 'Go on');
select is(rebuilt(), 5::bigint, 'every request is rebuilt to the byte');
select is((select request #>> '{thinking,type}' from context_window(focus())), null, 'the loop goes on as it began');

-- An empty response ends no loop: the results before it are sent again.
select submit('Fix it');
select pg_temp.say(null, null), play('[[]]');
select drive();
select is((select body::jsonb #>> '{messages,-1,content,0,type}' from request where n = (select max(n) from request)), 'tool_result', 'behind an empty response the results are sent again');
select is((select body #>> '{thinking,type}' from request where n = (select max(n) from request)), null, 'and the loop is the same');

select * from finish();
rollback;
