begin;
select plan(2);

create function public.jam(input jsonb) returns jsonb language plpgsql as $$ begin raise exception using errcode = '40P01', message = 'deadlock detected'; end $$;
select from ability_register('jam', 'Jams.', '{"type": "object"}', 'unsafe', 'safe', 'public.jam(jsonb)');
select agent('{"tools": ["jam"]}');
select submit();
select drive();
select from turn_record(item(), lease(), turn(),
  '{"id": "msg_1", "model": "m", "content": [{"type":"tool_use","id":"t1","name":"jam","input":{}}], "stop_reason": "tool_use", "usage": {"input_tokens": 10, "output_tokens": 5}}');

select throws_ok(format($$ select tool_call_execute('%s', '%s', '%s') $$, item(), lease(), (select id from tool_calls)), '40P01', 'deadlock detected', 'a deadlock is raised');
select is((select status from tool_calls), 'pending', 'and the call can be made again');

select * from finish();
rollback;
