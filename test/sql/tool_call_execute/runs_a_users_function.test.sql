-- A tool that is a user's SQL function runs in the database, sees the user's tables and may write the item's ledger.
begin;
select plan(5);

create table public.alphabet as select chr(n) as letter from generate_series(97, 122) n;
create function public.count_letters(input jsonb) returns jsonb language sql as
  $$ select jsonb_build_object('letters', (select count(*) from alphabet where strpos(input ->> 'text', letter) > 0)) from ledger_append(current_setting('work_ledger.work_item_id')::uuid, 'note', 'counted') $$;
select from ability_register('count_letters', 'Counts letters.', '{"type": "object", "properties": {"text": {"type": "string"}}}', 'pure', 'safe', 'public.count_letters(jsonb)');
select agent('{"tools": ["count_letters"]}');
select submit();
select drive();

select is(stage() #>> '{request,tools,10,name}', 'count_letters', 'the function is offered as a tool');
select is(answer('[["count_letters", {"text": "abc"}]]') #>> '{calls,0,implementation}', 'sql', 'the database runs it');
select run();
select is((select result #>> '{}' from tool_calls), '{"letters": 3}', 'the function''s value is the result; it finds the user''s tables');
select is((select content from work_ledger), 'counted', 'the function may write the ledger of the item');
select throws_ok($$ select ability_register('bad', 'Bad.', '{"type": "object"}', p_function => 'lower(text)') $$, 'WL002', null, 'a function of another shape is refused');

select * from finish();
rollback;
