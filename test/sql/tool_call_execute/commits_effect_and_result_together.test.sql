begin;
select plan(6);

select agent();
select submit();
select drive();
create temporary table recorded as
  select turn_record(item(), lease(), turn(),
    '{"id": "msg_1", "model": "m", "content": [{"type":"tool_use","id":"t1","name":"ledger_append","input":{"entry_type":"finding","content":"a"}},{"type":"tool_use","id":"t2","name":"ledger_append","input":{"entry_type":"bogus","content":"b"}}], "stop_reason": "tool_use", "usage": {"input_tokens": 10, "output_tokens": 5}}') as answer;

select from tool_calls k cross join lateral tool_call_execute(item(), lease(), k.id);
select is((select result::text from tool_calls where provider_id = 't1'), '"Recorded as [1]."', 'the entry is recorded');
select is((select tool_call_id from work_ledger), (select id from tool_calls where provider_id = 't1'), 'and knows its call');
select is((select status from tool_calls where provider_id = 't2'), 'failed', 'an error is a result');
select alike((select result::text from tool_calls where provider_id = 't2'), '%not an entry type%WL002%One of: plan%', 'that tells the model what to do');
select from tool_calls k cross join lateral tool_call_execute(item(), lease(), k.id);
select is((select count(*) from work_ledger), 1::bigint, 'running it again does nothing');
select is(nullif(current_setting('work_ledger.lease', true), ''), null, 'the lease does not stay behind in the session');

select * from finish();
rollback;
