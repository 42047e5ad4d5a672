-- An ability is called by the name that it was registered with, or by the one that models call it; a work item is needed where it acts on one.
begin;
select plan(7);

create function pg_temp.double(p_input jsonb) returns integer language sql as $$ select (p_input ->> 'n')::integer * 2 $$;
select from ability_register('double', 'Doubles.', '{"type": "object"}', 'pure', 'safe', 'pg_temp.double(jsonb)');
select from ability_register('my:double', 'Doubles.', '{"type": "object"}', 'pure', 'safe', 'pg_temp.double(jsonb)');
select tool('elsewhere');
select submit();

select is(ability_invoke('my:double', '{"n": 1}'), '2', 'a user''s function is called by the name it was registered with');
select is(ability_invoke('my_double', '{"n": 1}'), '2', 'a user''s function is called by the name that models use');
select throws_ok($$ select ability_invoke('nothing') $$, 'WL001', null, 'an ability that nobody registered is not there');
select throws_ok($$ select ability_invoke('elsewhere') $$, '0A000', null, 'an ability that a worker runs cannot be called');
select throws_ok($$ select ability_invoke('await_child_work', '{"work_item_ids": []}', item()) $$, '0A000', null, 'waiting cannot be called');
select throws_ok($$ select ability_invoke('ledger_read') $$, 'WL001', null, 'an ability of the engine needs a work item');
select is(ability_invoke('double', '{"n": 21}'), '42', 'a user''s function needs none');

select * from finish();
rollback;
