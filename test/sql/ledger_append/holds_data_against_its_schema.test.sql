-- The data of an entry is held against the schema of its type, once there is one.
begin;
select plan(9);

select submit('Find why the import is slow');
select lives_ok($$ select ledger_append(item(), 'decision', 'Use B', '[1]') $$, 'without a schema data may be anything');
select ledger_data_schema_save('decision', '{"type": "object", "required": ["chosen"], "properties": {"chosen": {"type": "string", "enum": ["A", "B"]}, "cost": {"type": "integer"}}, "additionalProperties": false}');
select throws_ok($$ select ledger_append(item(), 'decision', 'Use B', '[1]') $$, 'WL002', 'the data of a decision must be a JSON object', 'with a schema data has to be an object');
select throws_ok($$ select ledger_append(item(), 'decision', 'Use B', '{"cost": 1}') $$, 'WL002', 'the data of a decision needs "chosen"', 'what is required and missing is named');
select throws_ok($$ select ledger_append(item(), 'decision', 'Use B', '{"chosen": "C"}') $$, 'WL002', null, 'a value that the schema does not allow is refused');
select throws_ok($$ select ledger_append(item(), 'decision', 'Use B', '{"chosen": "B", "cost": 1.5}') $$, 'WL002', null, 'a value of another type is refused');
select lives_ok($$ select ledger_append(item(), 'decision', 'Use B', '{"chosen": "B", "cost": 2}'), ledger_append(item(), 'decision', 'Without'), ledger_append(item(), 'finding', 'Other', '[1]') $$, 'data that fits, no data and data of other types are taken');
select ledger_data_schema_save('decision', null);
select lives_ok($$ select ledger_append(item(), 'decision', 'Use B', '[1]') $$, 'a schema is taken back by null');
select ledger_append(item(), 'finding', 'Seen', '[1]', p_idempotency_key => 'once');
select ledger_data_schema_save('finding', '{"type": "object"}');
select is((ledger_append(item(), 'finding', 'Seen', '[1]', p_idempotency_key => 'once')).content, 'Seen', 'a repeated call is answered, though a schema has come since');
select is((select count(*) from ledger_append_batch(item(), '[{"entry_type": "finding", "content": "None", "data": null}]')), 1::bigint, 'data that is null is no data');

select * from finish();
rollback;
