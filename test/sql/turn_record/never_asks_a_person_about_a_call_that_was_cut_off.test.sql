-- A dangerous call that was cut off at the output limit is answered at once: nobody is asked to approve it, and it never runs.
begin;
select plan(4);

select tool('push', 'unsafe', 'dangerous');
select agent('{"tools": ["push"], "require_approval": "dangerous"}');
select submit('Fix it');
select drive(), answer('[["push", {"to": "ma"}]]', p_more => '{"stop_reason": "max_tokens"}');
select is((select status from tool_calls), 'failed', 'the call has failed');
select is_empty('select from approvals', 'nobody is asked about it');
select is(iteration_finish(item(), lease()) ->> 'kind', 'continued', 'the work waits for nobody');
select is(drive() ->> 'kind', 'call_model', 'the model is told, and asked again');

select * from finish();
rollback;
