begin;
select plan(4);

select agent();
select submit();
select drive();
create temporary table recorded as
  select turn_record(item(), lease(), turn(),
    '{"id": "msg_1", "model": "m", "content": [{"type":"tool_use","id":"t1","name":"ledger_append","input":{}}], "stop_reason": "max_tokens", "usage": {"input_tokens": 10, "output_tokens": 5}}') as answer;

select is((select status from tool_calls), 'failed', 'the call is not run');
select alike((select result::text from tool_calls), '%Not executed%max_tokens%', 'the model is told why');
select is((select kind from (select iteration_finish(item(), lease()) ->> 'kind') v(kind)), 'continued', 'the work goes on');
select is((select max_tokens from foci), 64000, 'with twice the output limit');

select * from finish();
rollback;
