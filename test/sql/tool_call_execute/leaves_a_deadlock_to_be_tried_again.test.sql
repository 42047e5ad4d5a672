-- A deadlock in a SQL tool is no result: it is raised, and the call is made again.
begin;
select plan(2);

create function public.jam(input jsonb) returns jsonb language plpgsql as $$ begin raise exception using errcode = '40P01', message = 'deadlock detected'; end $$;
select from ability_register('jam', 'Jams.', '{"type": "object"}', 'unsafe', 'safe', 'public.jam(jsonb)');
select agent('{"tools": ["jam"]}');
select submit();
select drive();
select answer('[["jam"]]');

select throws_ok($$ select tool_call_execute(item(), lease(), call('t1_1')) $$, '40P01', 'deadlock detected', 'a deadlock is raised');
select is((select status from tool_calls), 'pending', 'a call that met a deadlock can be made again');

select * from finish();
rollback;
