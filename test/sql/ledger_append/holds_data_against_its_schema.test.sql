begin;
select plan(14);

select submit('Find why the import is slow');
select lives_ok($$ select ledger_append(item(), 'decision', 'Use B', '[1]') $$, 'data may be anything');
select ledger_data_schema_save('decision', '{"type": "object", "required": ["chosen"], "properties": {"chosen": {"type": "string", "enum": ["A", "B"]}, "cost": {"type": "integer"}}, "additionalProperties": false}');
select throws_ok($$ select ledger_append(item(), 'decision', 'Use B', '[1]') $$, 'WL002', 'the data of a decision is a JSON object', 'until somebody says what it is');
select throws_ok($$ select ledger_append(item(), 'decision', 'Use B', '{"cost": 1}') $$, 'WL002', 'the data of a decision needs "chosen"', 'what is required');
select throws_ok($$ select ledger_append(item(), 'decision', 'Use B', '{"chosen": "C"}') $$, 'WL002', null, 'what is allowed');
select throws_ok($$ select ledger_append(item(), 'decision', 'Use B', '{"chosen": "B", "cost": 1.5}') $$, 'WL002', null, 'of which type');
select lives_ok($$ select ledger_append(item(), 'decision', 'Use B', '{"chosen": "B", "cost": 2}'), ledger_append(item(), 'decision', 'Without'), ledger_append(item(), 'finding', 'Other', '[1]') $$, 'what fits, what has none and other types go through');
select ledger_data_schema_save('decision', null);
select lives_ok($$ select ledger_append(item(), 'decision', 'Use B', '[1]') $$, 'null takes it back');
select throws_ok($$ select ledger_data_schema_save('thought', '{}') $$, 'WL002', null, 'a type that is none');
select throws_ok(format($$ select ledger_data_schema_save('note', '%s') $$, s), 'WL002', null, 'a schema that says nothing of data: ' || s)
  from unnest(array['[]', '{}', '{"type": "array"}', '{"type": "object", "required": "a"}']) s;
select ledger_append(item(), 'finding', 'Seen', '[1]', p_idempotency_key => 'once');
select ledger_data_schema_save('finding', '{"type": "object"}');
select is((ledger_append(item(), 'finding', 'Seen', '[1]', p_idempotency_key => 'once')).content, 'Seen', 'what was written stays written');
select is((select count(*) from ledger_append_batch(item(), '[{"entry_type": "finding", "content": "None", "data": null}]')), 1::bigint, 'null is no data');

select * from finish();
rollback;
