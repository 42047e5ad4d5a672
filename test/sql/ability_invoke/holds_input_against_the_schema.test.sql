-- What an ability is called with is held against the schema that it was registered with.
begin;
select plan(13);

create function pg_temp.double(p_input jsonb) returns integer language sql as $$ select (p_input ->> 'n')::integer * 2 $$;
select from ability_register('double', 'Doubles.', '{"type": "object", "properties": {"n": {"type": "integer", "minimum": 1, "maximum": 100, "description": "What to double."}, "how": {"type": "string", "enum": ["fast", "slow"]}, "maybe": {"type": ["string", "null"]}, "also": {"type": "array", "items": {"type": "number", "maximum": 9}}}, "required": ["n"], "additionalProperties": false}', 'pure', 'safe', 'pg_temp.double(jsonb)');

select is(ability_invoke('double', '{"n": 21, "how": "fast", "maybe": null}'), '42', 'input that fits the schema is taken');
select throws_ok($$ select ability_invoke('double', '{}') $$, 'WL002', 'the input of double needs "n"', 'a required key that is missing is named');
select throws_ok($$ select ability_invoke('double', '{"n": "x"}') $$, 'WL002', '"n" of the input of double must be integer, not string', 'a value of another type is named');
select throws_ok($$ select ability_invoke('double', '{"n": 1.5}') $$, 'WL002', null, 'a fraction is no integer');
select throws_ok($$ select ability_invoke('double', '{"n": 0}') $$, 'WL002', '"n" of the input of double must be at least 1 and at most 100, not 0', 'a number below the range is refused, with the range');
select throws_ok($$ select ability_invoke('double', '{"n": 1e300}') $$, 'WL002', null, 'a number above the range is refused, however large');
select is(ability_invoke('double', '{"n": 100, "also": [9, -1]}'), '200', 'the ends of the range are in it, and a list whose items fit is taken');
select throws_ok($$ select ability_invoke('double', '{"n": 1, "also": [1, "x"]}') $$, 'WL002', 'item 2 of "also" of the input of double must be number, not string', 'an item of another type is named by its place');
select throws_ok($$ select ability_invoke('double', '{"n": 1, "also": [10]}') $$, 'WL002', 'item 1 of "also" of the input of double must be at most 9, not 10', 'an item out of range is refused');
select throws_ok($$ select ability_invoke('double', '{"n": 1, "how": "so"}') $$, 'WL002', null, 'a value that is not one of the enum is refused');
select throws_ok($$ select ability_invoke('double', '{"n": 1, "m": 1}') $$, 'WL002', 'the input of double has no key "m"', 'a key that the schema does not have is named');
select throws_ok($$ select ability_invoke('double', '[]') $$, 'WL002', null, 'input that is no object is refused');

select from ability_register('double', 'Doubles.', '{"type": "object", "required": null}', 'pure', 'safe', 'pg_temp.double(jsonb)');
select is(ability_invoke('double', '{"n": 2}'), '4', 'a keyword that is not what it must be refuses nothing');

select * from finish();
rollback;
