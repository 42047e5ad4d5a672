-- What a SQL tool does and what it says of it are committed together, once.
begin;
select plan(6);

select agent();
select submit();
select drive();
select answer('[["finding", "a"], ["ledger_append", {"entry_type": "bogus", "content": "b"}]]');

select from tool_calls k cross join lateral tool_call_execute(item(), lease(), k.id);
select is((select result::text from tool_calls where id = call('t1_1')), '"Recorded as [1]."', 'the entry is recorded');
select is((select tool_call_id from work_ledger), (select id from tool_calls where id = call('t1_1')), 'the entry knows its call');
select is((select status from tool_calls where id = call('t1_2')), 'failed', 'an error of a SQL tool is a result');
select alike((select result::text from tool_calls where id = call('t1_2')), '%not an entry type%WL002%One of: plan%', 'the result of an error tells the model what to do');
select from tool_calls k cross join lateral tool_call_execute(item(), lease(), k.id);
select is((select count(*) from work_ledger), 1::bigint, 'running the call again does nothing');
select is(nullif(current_setting('work_ledger.lease', true), ''), null, 'the lease does not stay behind in the session');

select * from finish();
rollback;
