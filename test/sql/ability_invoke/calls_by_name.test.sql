begin;
select plan(20);

create function pg_temp.double(p_input jsonb) returns integer language sql as $$ select (p_input ->> 'n')::integer * 2 $$;
select from ability_register('double', 'Doubles.', '{"type": "object", "properties": {"n": {"type": "integer", "description": "What to double."}, "how": {"type": "string", "enum": ["fast", "slow"]}, "maybe": {"type": ["string", "null"]}}, "required": ["n"], "additionalProperties": false}', 'pure', 'safe', 'pg_temp.double(jsonb)');
select tool('elsewhere', 'pure');
select submit('x', 'a');

select is(ability_invoke('double', '{"n": 21}'), '42', 'a user''s function');
select is(ability_invoke('double', '{"n": 21, "how": "fast", "maybe": null}'), '42', 'with more');
select from ability_register('my:double', 'Doubles.', '{"type": "object"}', 'pure', 'safe', 'pg_temp.double(jsonb)');
select is(ability_invoke('my:double', '{"n": 1}'), '2', 'by the name it was registered with');
select is(ability_invoke('my_double', '{"n": 1}'), '2', 'and by the one that models call it');
select throws_ok($$ select ability_invoke('double', '{}') $$, 'WL002', 'the input of double needs "n"', 'what is required');
select throws_ok($$ select ability_invoke('double', '{"n": "x"}') $$, 'WL002', '"n" of the input of double must be integer, not string', 'what type it is');
select throws_ok($$ select ability_invoke('double', '{"n": 1.5}') $$, 'WL002', null, 'integers are whole');
select throws_ok($$ select ability_invoke('double', '{"n": 1, "how": "so"}') $$, 'WL002', null, 'one of the values');
select throws_ok($$ select ability_invoke('double', '{"n": 1, "m": 1}') $$, 'WL002', 'the input of double knows no "m"', 'nothing else');
select throws_ok($$ select ability_invoke('double', '[]') $$, 'WL002', null, 'an object');
select throws_ok($$ select ability_invoke('nothing') $$, 'WL001', null, 'what is registered');
select throws_ok($$ select ability_invoke('elsewhere') $$, '0A000', null, 'not what a worker runs');
select throws_ok($$ select ability_invoke('await_child_work', '{"work_item_ids": []}', item()) $$, '0A000', null, 'nor waiting');
select throws_ok($$ select ability_invoke('ledger_read') $$, 'WL001', null, 'the engine''s own need a work item');
select is(ability_invoke('ledger_append', '{"entry_type": "finding", "content": "It is blue"}', item()), '{"seq": 1, "entry_type": "finding"}', 'an entry');
select is(ability_invoke('ledger_read', '{}', item()), '[{"seq": 1, "entry_type": "finding", "content": "It is blue"}]', 'read again, as data');
create temporary table child as select ability_invoke('spawn_child_work', '{"work_type": "b", "description": "y"}', item()) #>> '{}' as id;
select is((select parent_id from work_items where id = (select id::uuid from child)), item(), 'a child');
select is(ability_invoke('work_complete', '{"summary": "done"}', item()), '{"state": "completed"}', 'the end');
select throws_ok($$ select ability_invoke('ledger_append', '{"entry_type": "note", "content": "late"}', item()) $$, 'WL003', null, 'errors are those of the ability');
select is(current_setting('work_ledger.work_item_id', true), '', 'nothing is left set');

select * from finish();
rollback;
