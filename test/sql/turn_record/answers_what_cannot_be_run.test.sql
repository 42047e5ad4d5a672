-- A call of a tool that is not there is answered at once; ids that come twice are made unique.
begin;
select plan(5);

select agent();
select submit();
select drive();
create temporary table recorded as
  select turn_record(item(), lease(), turn(), '{"stop_reason": "tool_use", "content": [{"type":"tool_use","id":"t1","name":"rm_rf","input":{}},{"type":"tool_use","id":"t1","name":"ledger_read","input":{}}]}') as answer;

select is((select status from tool_calls where ordinal = 0), 'failed', 'an unknown tool fails at once');
select alike((select result::text from tool_calls where ordinal = 0), '%There is no tool \\"rm_rf\\". You have: ledger_append%', 'the result of an unknown tool says which there are');
select is((select count(distinct provider_id) from tool_calls), 2::bigint, 'an id that comes twice is made unique');
select is((select array_agg(b ->> 'id' order by n) from messages, json_array_elements(sent_content) with ordinality as x(b, n) where role = 'assistant'),
  (select array_agg(provider_id order by ordinal) from tool_calls), 'the message is sent with the ids that were made unique');
select is((select json_array_length(answer -> 'calls') from recorded), 1, 'one call is to be run');

select * from finish();
rollback;
