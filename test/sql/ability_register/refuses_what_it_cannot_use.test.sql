begin;
select plan(5);

select throws_ok($$ select ability_register('a b', 'x', '{"type": "object"}') $$, 'WL002', null, 'a name with a blank');
select throws_ok($$ select ability_register('a', 'x', '{"type": "array"}') $$, 'WL002', null, 'an input that is no object');
select throws_ok($$ select ability_register('a', 'x', '{"type": "object"}', 'harmless') $$, 'WL002', null, 'an unknown effect');
select throws_ok($$ select ability_register('ledger_append', 'x', '{"type": "object"}') $$, 'WL002', null, 'the engine''s own tools');
select is((select updated_at from ability_register('a', 'x', '{"type": "object"}')), (select updated_at from ability_register('a', 'x', '{"type": "object"}')), 'the same again changes nothing');

select * from finish();
rollback;
