-- A check that failed is told to the model with its next request, and not again with every answer that calls nothing.
begin;
select plan(3);

select agent('{"check_command": "make test", "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select submit('Fix it');
select drive(), answer('["Done."]');
select hook_record(item(), lease(), (iteration_finish(item(), lease()) ->> 'hook_run_id')::uuid, '{"exit_code": 1, "stdout": "red"}');
select is(iteration_finish(item(), lease()) ->> 'kind', 'continued', 'the work goes on');
select play('[["I look aga"]]', p_more => '{"stop_reason": "max_tokens"}');
select alike((select body -> 'messages' -> -1 from request where n = 2)::text, '%the check failed%red%', 'the model is told');
select drive();
select unalike((select body -> 'messages' -> -1 from request where n = 3)::text, '%the check failed%', 'once');

select * from finish();
rollback;
