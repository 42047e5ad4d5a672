-- An ability has a name, an input schema, an effect and a risk that are known, and a name of its own as models call it.
begin;
select plan(14);

select throws_ok($$ select ability_register('a b', 'x', '{"type": "object"}') $$, 'WL002', null, 'a name with a blank is refused');
select throws_ok($$ select ability_register('a', 'x', '{"type": "array"}') $$, 'WL002', null, 'an input that is no object is refused');
select throws_ok($$ select ability_register('a', 'x', '{"type": "object"}', 'harmless') $$, 'WL002', null, 'an unknown effect is refused');
select throws_ok($$ select ability_register('ledger_append', 'x', '{"type": "object"}') $$, 'WL002', null, 'the engine''s own tools cannot be registered again');
select is((select updated_at from ability_register('a', 'x', '{"type": "object"}')), (select updated_at from ability_register('a', 'x', '{"type": "object"}')), 'registering the same again changes nothing');

-- A provider takes no colon: a:b and a_b are one name.
select from ability_register('pay:out', 'Pays.', '{"type": "object"}', 'unsafe', 'dangerous');
select throws_ok($$ select ability_register('pay_out', 'A harmless twin.', '{"type": "object"}', 'pure', 'safe') $$, 'WL002', 'models would call ability "pay_out" by the name pay_out, which is taken by ability "pay:out"', 'a name that models cannot tell from another ability is refused');
select throws_ok($$ select ability_register('ldg_task_get', 'Mine.', '{"type": "object"}') $$, 'WL002', 'ability "ldg:task:get" belongs to Work Ledger', 'a name that models cannot tell from a built-in ability is refused');
select throws_ok($$ insert into abilities (name, description, input_schema, effect, risk, implementation) values ('pay_out', 'x', '{"type": "object"}', 'pure', 'safe', 'runtime') $$, '23505', null, 'the table holds no two abilities of one tool name');
select is((select risk from abilities where tool_name = 'pay_out'), 'dangerous', 'the ability that was there first stays as it was');
select is((select description from ability_register('pay:out', 'Pays more.', '{"type": "object"}', 'unsafe', 'dangerous')), 'Pays more.', 'an ability is changed under its own name');

-- What is called in a query: no procedure, nothing that returns rows.
create function pg_temp.of_a_text(t text) returns text language sql as $$ select t $$;
create procedure pg_temp.no_function(j jsonb) language sql as $$ select j $$;
create function pg_temp.rows_of(j jsonb) returns setof jsonb language sql as $$ select j $$;
select throws_ok($$ select ability_register('t', 'x', '{"type": "object"}', p_function => 'pg_temp.of_a_text(text)') $$, 'WL002', null, 'a function of something else than the input is refused');
select throws_ok($$ select ability_register('t', 'x', '{"type": "object"}', p_function => 'pg_temp.no_function(jsonb)') $$, 'WL002', null, 'a procedure is');
select throws_ok($$ select ability_register('t', 'x', '{"type": "object"}', p_function => 'pg_temp.rows_of(jsonb)') $$, 'WL002', null, 'what returns rows is');
select throws_ok($$ select ability_register('t', 'x', '{"type": "object"}', p_function => 'row_number()') $$, 'WL002', null, 'a window function is');

select * from finish();
rollback;
