-- A schema for results is refused where it holds a keyword that is not checked; a result is told all that is wrong with it.
begin;
select plan(34);

create function pg_temp.wrong(p_schema jsonb, p_value jsonb) returns text language sql as $$ select string_agg(e, ' | ') from _result_errors(p_schema, p_value) e $$;
create function pg_temp.refused(p_schema jsonb) returns text language sql as $$ select string_agg(e, ' | ') from _result_schema_problems(p_schema) e $$;

select is(pg_temp.refused('{"type": "object", "title": "T", "properties": {"a": {"type": ["string", "null"], "minLength": 1, "pattern": "^a"}}, "required": ["a"],
  "additionalProperties": false, "anyOf": [{"const": 1}, {}]}'), null, 'what is checked passes');
select is(pg_temp.refused('{"properties": {"a": {"format": "date"}}}'), 'result_schema.properties.a has keyword "format", which is not supported', 'what is not is refused, at its place');
select is(pg_temp.refused('{"items": {"$ref": "#"}}'), 'result_schema.items has keyword "$ref", which is not supported', 'references too');
select is(pg_temp.refused('[]'), 'result_schema must be a JSON Schema, which is an object', 'a list is none');
select is(pg_temp.refused('{"type": "text"}') is not null, true, 'an unknown type');
select is(pg_temp.refused('{"type": []}') is not null, true, 'no type');
select is(pg_temp.refused('{"required": [1]}') is not null, true, 'a required number');
select is(pg_temp.refused('{"enum": []}') is not null, true, 'an empty enum');
select is(pg_temp.refused('{"minimum": "1"}') is not null, true, 'a minimum in words');
select is(pg_temp.refused('{"maxItems": -1}') is not null, true, 'fewer than none');
select is(pg_temp.refused('{"pattern": "("}') is not null, true, 'a pattern that is none');
select is(pg_temp.refused('{"anyOf": {}}') is not null, true, 'anyOf of no list');
select is(pg_temp.refused('{"properties": []}') is not null, true, 'properties of a list');
select is(pg_temp.refused('{"additionalProperties": 1}') is not null, true, 'additionalProperties of a number');

select is(pg_temp.wrong('{"type": "object", "required": ["a", "b"], "properties": {"a": {"type": "integer", "minimum": 2}}, "additionalProperties": false}', '{"a": 1, "c": 2}'),
  'result needs "b" | result.a must be at least 2 | result has no key "c"', 'all that is wrong is told, each at its place');
select is(pg_temp.wrong('{}', null), 'result is missing', 'nothing is missing');
select is(pg_temp.wrong('{}', 'null'), null, 'null is a value');
select is(pg_temp.wrong('{"type": "integer"}', '1.5'), 'result must be integer, not number', 'a half is no integer');
select is(pg_temp.wrong('{"type": "integer"}', '2.0'), null, 'two is');
select is(pg_temp.wrong('{"type": ["string", "null"]}', 'null'), null, 'a type may be nullable');
select is(pg_temp.wrong('{"type": "string", "minLength": 2, "maxLength": 3}', '"äöüx"'), 'result must have at most 3 characters, not 4', 'characters are counted');
select is(pg_temp.wrong('{"pattern": "^a+$"}', '"ab"'), 'result must match "^a+$"', 'a pattern');
select is(pg_temp.wrong('{"enum": ["a", 1]}', '"b"'), 'result must be one of ["a", 1]', 'an enum');
select is(pg_temp.wrong('{"enum": [[1]]}', '[1]'), null, 'of any values');
select is(pg_temp.wrong('{"enum": [{"a": 1, "b": 2}]}', '{"a": 1}') is not null, true, 'which are equal as a whole');
select is(pg_temp.wrong('{"const": {"a": 1}}', '{"a": 1.0}'), null, 'numbers are equal as numbers');
select is(pg_temp.wrong('{"maximum": 9007199254740992}', '9007199254740993'), 'result must be at most 9007199254740992', 'of any size');
select is(pg_temp.wrong('{"items": {"type": "string"}, "minItems": 3}', '["a", 1]'), 'result must have at least 3 items, not 2 | result[1] must be string, not number', 'items');
select is(pg_temp.wrong('{"additionalProperties": {"type": "number"}}', '{"x": "y"}'), 'result.x must be number, not string', 'other keys have a schema');
select is(pg_temp.wrong('{"anyOf": [{"type": "string"}, {"minimum": 3}]}', '1'),
  'result fits none of the schemas in anyOf: (1) result must be string, not number; (2) result must be at least 3', 'anyOf says what each wants');
select is(pg_temp.wrong('{"anyOf": [{"type": "string"}, {"minimum": 3}]}', '5'), null, 'one is enough');
select is(pg_temp.wrong('{"oneOf": [{"minimum": 1}, {"minimum": 2}]}', '3'), 'result must fit exactly one of the schemas in oneOf, but fits 2', 'oneOf wants exactly one');
select throws_ok($$ select work_submit('analyze', 'x', p_result_schema => '{"format": "date"}') $$, 'WL002', null, 'an item with such a schema is refused');
select throws_ok($$ select faculty_save('{"name": "f", "result_schema": {"properties": {"a": {"format": "date"}}}}') $$, 'WL002', null, 'and so is a faculty');

select * from finish();
rollback;
