-- The response whose results are being sent goes back with its thinking, whatever is cut before it; that of earlier responses leaves. A model
-- that binds thinking to all that is before it refuses it there: the cut waits, and if the blocks grow too large the thinking leaves.
begin;
select plan(9);

create function pg_temp.say(p_name text, p_size integer, p_step text default null, p_thought text default 't') returns text language sql as $$
  select play(jsonb_build_array(
    case when p_thought is null then '[]'::jsonb else jsonb_build_array(json_build_object('type', 'thinking', 'thinking', p_thought || ' ' || p_name, 'signature', 's')) end
    || case when p_step is null then '[]'::jsonb else jsonb_build_array(jsonb_build_array('step', p_step)) end
    || jsonb_build_array(jsonb_build_array('look', repeat('x', p_size))))) $$;
create function pg_temp.thoughts(p_n integer) returns text language sql as $$ select string_agg(block ->> 'thinking', ', ' order by i) from blocks(p_n) where block ->> 'type' = 'thinking' $$;
create function pg_temp.last() returns integer language sql as $$ select max(n) from request $$;

select agent('{"tools": ["look"], "elide_budget": 1000, "keep_auto": 0, "ledger_nudge_interval": 0, "model": "claude-opus-5"}', '{"awareness": {"enabled": false}}');
select submit('Fix it');
select pg_temp.say('one', 8000), pg_temp.say('two', 10, 'Looked'), pg_temp.say('three', 10);
select isnt((select elision_id from turns where id = (select turn_id from request where n = 3)), null, 'a step that came with a call cuts');
select is(pg_temp.thoughts(3), 't two', 'the response whose results are sent keeps its thinking');
select drive();
select is(pg_temp.thoughts(4), 't two, t three', 'and so it stays in the requests behind it');
select answer('[["look"]]'), run(), iteration_finish(item(), lease());
select is(rebuilt(), 4::bigint, 'every request is rebuilt to the byte');

-- A model that binds it.
select agent('{"tools": ["look"], "elide_budget": 1000, "keep_auto": 0, "ledger_nudge_interval": 0, "model": "claude-sonnet-5-5"}', '{"awareness": {"enabled": false}}');
select submit('Fix it');
select pg_temp.say('one', 4000), pg_temp.say('two', 10, 'Looked'), pg_temp.say('three', 10, 'Looked again', null);
select drive();
select is((select array_agg(elision_id is not null order by iteration) from turns where work_item_id = item()), array[false, false, false, true], 'the cut waits for a response without thinking');
select is(pg_temp.thoughts(pg_temp.last()), null, 'behind it stands no thinking');
select answer('[["look"]]'), run(), iteration_finish(item(), lease());

select submit('Fix it');
select pg_temp.say('one', 20000), pg_temp.say('two', 10, 'Looked');
select drive();
select is((select elision_id is not null from turns where id = turn()), true, 'with four times the budget it waits no longer');
select is(pg_temp.thoughts(pg_temp.last()), null, 'and thinking leaves, as the model refuses it');

-- What is known of a model may be another.
select from model_save('claude-sonnet-5-5');
update models set takes = '{"binds_thinking": false}' where name = 'claude-sonnet-5-5';
select submit('Fix it');
select pg_temp.say('one', 4000), pg_temp.say('two', 10, 'Looked');
select drive();
select is(pg_temp.thoughts(pg_temp.last()), 't two', 'models says whether one binds it');

select * from finish();
rollback;
