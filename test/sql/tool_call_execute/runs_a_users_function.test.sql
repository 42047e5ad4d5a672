begin;
select plan(5);

create table public.alphabet as select chr(n) as letter from generate_series(97, 122) n;
create function public.count_letters(input jsonb) returns jsonb language sql as
  $$ select jsonb_build_object('letters', (select count(*) from alphabet where strpos(input ->> 'text', letter) > 0)) from ledger_append(current_setting('work_ledger.work_item_id')::uuid, 'note', 'counted') $$;
select from ability_register('count_letters', 'Counts letters.', '{"type": "object", "properties": {"text": {"type": "string"}}}', 'pure', 'safe', 'public.count_letters(jsonb)');
select agent('{"tools": ["count_letters"]}');
select submit();
select drive();

select is(stage() #>> '{request,tools,8,name}', 'count_letters', 'it is offered');
create temporary table recorded as
  select turn_record(item(), lease(), turn(),
    '{"id": "msg_1", "model": "m", "content": [{"type":"tool_use","id":"t1","name":"count_letters","input":{"text":"abc"}}], "stop_reason": "tool_use", "usage": {"input_tokens": 10, "output_tokens": 5}}') as answer;

select is((select answer #>> '{calls,0,implementation}' from recorded), 'sql', 'the database runs it');
select from tool_call_execute(item(), lease(), (select id from tool_calls));
select is((select result #>> '{}' from tool_calls), '{"letters": 3}', 'its value is the result; it finds the user''s tables');
select is((select content from work_ledger), 'counted', 'it may write the ledger of the item');
select throws_ok($$ select ability_register('bad', 'Bad.', '{"type": "object"}', p_function => 'lower(text)') $$, 'WL002', null, 'a function of another shape is refused');

select * from finish();
rollback;
