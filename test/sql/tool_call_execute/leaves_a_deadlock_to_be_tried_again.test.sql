begin;
select plan(2);

create function public.jam(input jsonb) returns jsonb language plpgsql as $$ begin raise exception using errcode = '40P01', message = 'deadlock detected'; end $$;
select from ability_register('jam', 'Jams.', '{"type": "object"}', 'unsafe', 'safe', 'public.jam(jsonb)');
select from faculty_save('{"name": "worker", "accepts": ["analyze"], "engage": {"tools": ["jam"]}}');
create temporary table item as select * from work_submit('analyze', 'Find why the nightly import is slow');
create temporary table held as
  select v.claim ->> 'lease' as lease_text, (v.claim ->> 'lease')::uuid as lease, (v.claim ->> 'focus_id')::uuid as focus_id
    from focus_claim((select id from item), 'worker-1') as v(claim);
create temporary table begun as
  select (v.stage ->> 'turn_id')::uuid as turn_id, v.stage
    from iteration_begin((select id from item), (select lease from held)) as v(stage);
select from turn_record((select id from item), (select lease from held), (select turn_id from begun),
  '{"id": "msg_1", "model": "m", "content": [{"type":"tool_use","id":"t1","name":"jam","input":{}}], "stop_reason": "tool_use", "usage": {"input_tokens": 10, "output_tokens": 5}}');

select throws_ok(format($$ select tool_call_execute('%s', '%s', '%s') $$, (select id from item), (select lease from held), (select id from tool_calls)), '40P01', 'deadlock detected', 'a deadlock is raised');
select is((select status from tool_calls), 'pending', 'and the call can be made again');

select * from finish();
rollback;
