-- A call whose input may have been cut off is not executed; the next response may be longer.
begin;
select plan(4);

select agent();
select submit();
select drive();
select answer('[["ledger_append", {}]]', p_more => '{"stop_reason": "max_tokens"}');

select is((select status from tool_calls), 'failed', 'a call that was cut off is not executed');
select alike((select result::text from tool_calls), '%Not executed%max_tokens%', 'the model is told why it was not executed');
select is(iteration_finish(item(), lease()) ->> 'kind', 'continued', 'the work goes on');
select is((select max_tokens from foci), 64000, 'the next request has twice the output limit');

select * from finish();
rollback;
