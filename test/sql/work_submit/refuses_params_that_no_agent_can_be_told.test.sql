-- Params stand in the first message to an agent, which holds 4 MiB: more are refused when work is submitted, not attempt by attempt.
begin;
select plan(6);

select agent();
select throws_ok($$ select work_submit('analyze', 'x', jsonb_build_object('a', repeat('x', 3200000))) $$, 'WL002',
  'params can have at most 3 MiB as shown to an agent, not 3200023 bytes', 'what is larger is refused');
select throws_ok($$ select work_submit('analyze', 'x', jsonb_build_object('a', repeat('"', 1600000))) $$, 'WL002', null, 'also what is larger only as it is told');
select throws_ok($$ select submit('A tree'); select work_submit('analyze', 'x', jsonb_build_object('a', repeat('x', 3200000)), p_parent_id => item()) $$, 'WL002', null, 'from an agent, too');

select take(work_submit('analyze', 'x', jsonb_build_object('a', repeat('x', 3100000), 'b', 1)));
select is(drive() ->> 'kind', 'call_model', 'what is accepted reaches the model');

select from faculty_save('{"name": "program", "accepts": ["compute"], "engage": {"mode": "external", "command": "compute", "workspace": "none"}}');
select take(work_submit('compute', 'x', jsonb_build_object('a', repeat('x', 5000000))));
select is(drive() -> 'input' ->> 'hook', 'engage', 'a program takes more');
select isnt(work_submit('compute', 'y', jsonb_build_object('a', repeat('x', 5000000)), 'program'), null, 'also asked for by its name');

select * from finish();
rollback;
