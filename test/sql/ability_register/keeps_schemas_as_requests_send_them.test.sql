-- An input schema is compacted when it is registered: what no request could hold is refused then, not in an agent's first iteration.
begin;
select plan(4);

select is(
  (select input_schema::text from ability_register('look', 'Looks.', E'{ "type": "object",\n  "properties": {"b": {"minimum": 1.50}, "a": {"type" : "string"}} }')),
  '{"type":"object","properties":{"b":{"minimum":1.5},"a":{"type":"string"}}}',
  'a schema is stored without white space, its keys in the order given');
select throws_ok(
  format($$ select ability_register('deep', 'Nests.', %L) $$, '{"type": "object", "not": ' || repeat('[', 6000) || repeat(']', 6000) || '}'),
  'WL002', null, 'a schema that nests too deep for the server is refused');
select throws_ok(
  $$ select ability_register('huge', 'Counts.', '{"type": "object", "maximum": 1e1000000}') $$,
  'WL002', null, 'a schema with a number too large for the server is refused');
select is_empty($$ select from abilities where name in ('deep', 'huge') $$, 'a tool with a refused schema is not registered');

select * from finish();
rollback;
