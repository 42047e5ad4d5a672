-- A call that an import knows and whoever keeps the session missed: it has the result that was kept, or none.
begin;
select plan(4);

create function pg_temp.import(p_exchanges json) returns jsonb language sql as $$
  select session_import(json_build_object('format', 'claude-code', 'sessionId', 's', 'prompt', 'Fix it', 'model', 'claude-opus-4-6', 'exchanges', p_exchanges)) $$;

select pg_temp.import('[{"id": "1", "responseId": "m", "text": "I look.", "records": [{"id": "1", "text": "I look."}, {"id": "2", "calls": 1}, {"id": "3", "calls": 1}],
  "calls": [{"id": "a", "name": "Read", "input": {}}, {"id": "b", "name": "Read", "input": {}}]}]');
select is((select count(*) from tool_calls where completed_at is null), 2::bigint, 'two calls are open');
select pg_temp.import('[{"id": "1", "responseId": "m", "text": "I look.", "records": [{"id": "1", "text": "I look."}], "calls": [],
  "results": [{"id": "b", "result": "seen"}, {"id": "b", "result": "again"}, {"id": "c", "result": "whose?"}]}, {"id": "4", "responseId": "n", "text": "Done.", "calls": []}]');
select is((select string_agg(provider_id || ' ' || (result #>> '{}'), ', ' order by provider_id) from tool_calls),
          'a [engine] The record has no result for this call., b seen', 'the next response ends both');

select pg_temp.import('[{"id": "1", "responseId": "m"}, {"id": "4", "responseId": "n"}, {"id": "5", "responseId": "o", "text": "Again.",
  "records": [{"id": "5", "text": "Again."}, {"id": "6", "calls": 1}, {"id": "7", "calls": 1}], "calls": [{"id": "d", "name": "Read", "input": {}}, {"id": "e", "name": "Read", "input": {}}]}]');
select pg_temp.import('[{"id": "5", "responseId": "o", "text": "Again.", "records": [{"id": "5", "text": "Again."}, {"id": "7", "after": "6", "calls": 1}],
  "calls": [{"id": "e", "name": "Read", "input": {}, "result": "seen, too"}]}]');
select is((select string_agg(provider_id || ' ' || status, ', ' order by provider_id) from tool_calls where provider_id in ('d', 'e')), 'd pending, e completed',
          'a call that is kept without the one before it has its own result');
select is_empty($$ select * from ledger_verify() $$, 'the chain holds');

select * from finish();
rollback;
