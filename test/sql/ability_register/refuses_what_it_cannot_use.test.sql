begin;
select plan(10);

select throws_ok($$ select ability_register('a b', 'x', '{"type": "object"}') $$, 'WL002', null, 'a name with a blank');
select throws_ok($$ select ability_register('a', 'x', '{"type": "array"}') $$, 'WL002', null, 'an input that is no object');
select throws_ok($$ select ability_register('a', 'x', '{"type": "object"}', 'harmless') $$, 'WL002', null, 'an unknown effect');
select throws_ok($$ select ability_register('ledger_append', 'x', '{"type": "object"}') $$, 'WL002', null, 'the engine''s own tools');
select is((select updated_at from ability_register('a', 'x', '{"type": "object"}')), (select updated_at from ability_register('a', 'x', '{"type": "object"}')), 'the same again changes nothing');

-- A provider takes no colon: a:b and a_b are one name.
select from ability_register('pay:out', 'Pays.', '{"type": "object"}', 'unsafe', 'dangerous');
select throws_ok($$ select ability_register('pay_out', 'A harmless twin.', '{"type": "object"}', 'pure', 'safe') $$, 'WL002', 'a model calls ability "pay_out" by the name pay_out, and so it calls another one: pay:out', 'the name of another ability as models call it');
select throws_ok($$ select ability_register('ldg_task_get', 'Mine.', '{"type": "object"}') $$, 'WL002', 'ability "ldg:task:get" belongs to Work Ledger', 'the name of a built-in one as models call it');
select throws_ok($$ insert into abilities (name, description, input_schema, effect, risk, implementation) values ('pay_out', 'x', '{"type": "object"}', 'pure', 'safe', 'runtime') $$, '23505', null, 'nor by any other way');
select is((select risk from abilities where tool_name = 'pay_out'), 'dangerous', 'the one that was there stays');
select is((select description from ability_register('pay:out', 'Pays more.', '{"type": "object"}', 'unsafe', 'dangerous')), 'Pays more.', 'and can be changed under its own name');

select * from finish();
rollback;
