-- A schema is for a type of entries that there is, and says what an object is like.
begin;
select plan(5);

select throws_ok($$ select ledger_data_schema_save('thought', '{}') $$, 'WL002', null, 'a schema for an unknown type is refused');
select throws_ok(format($$ select ledger_data_schema_save('note', '%s') $$, s), 'WL002', null, 'a schema that says nothing of data is refused: ' || s)
  from unnest(array['[]', '{}', '{"type": "array"}', '{"type": "object", "required": "a"}']) s;

select * from finish();
rollback;
