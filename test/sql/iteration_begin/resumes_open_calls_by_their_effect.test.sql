begin;
select plan(8);

select agent();
select submit();
select drive();

select tool('look');
select tool('pay', 'unsafe', 'dangerous');
insert into turn_configs (content_hash, config)
select 'with-tools', jsonb_set(config::jsonb, '{tools}', '[{"name": "look"}, {"name": "pay"}]')::json from turn_configs;
update turns set config_hash = 'with-tools';
create temporary table recorded as
  select turn_record(item(), lease(), turn(),
    '{"id": "msg_1", "model": "m", "content": [{"type":"tool_use","id":"a","name":"look","input":{}},{"type":"tool_use","id":"b","name":"pay","input":{}},{"type":"tool_use","id":"c","name":"pay","input":{}}], "stop_reason": "tool_use", "usage": {"input_tokens": 10, "output_tokens": 5}}') as answer;

select from tool_calls k cross join lateral tool_call_begin(item(), lease(), k.id) where provider_id in ('a', 'b');
create temporary table resumed as select iteration_begin(item(), lease()) as stage;
select is((select stage ->> 'kind' from resumed), 'run_tools', 'the model is not asked again');
select is((select count(*) from json_array_elements((select stage -> 'calls' from resumed))), 2::bigint, 'two calls are to be run');
select is((select status from tool_calls where provider_id = 'a'), 'pending', 'a pure call that was running runs again');
select is((select status from tool_calls where provider_id = 'b'), 'uncertain', 'an unsafe one that was running is uncertain');
select alike((select result::text from tool_calls where provider_id = 'b'), '%may or may not have happened%', 'and the model is told so');
select is((select status from tool_calls where provider_id = 'c'), 'pending', 'an unsafe one that had not begun runs');
select is((select call_count from turns), 1, 'no model call was made for it');

delete from abilities where name = 'look';
select is((select iteration_begin(item(), lease()) #>> '{calls,0,name}'), 'look', 'a call of a tool that is gone is still answered');

select * from finish();
rollback;
