-- A compacted request that the model refuses for its length is compacted again; interrupted, it is asked again from the same exchange.
begin;
select plan(6);

select agent('{"tools": ["look"], "compact_keep_recent": 6, "elide_budget": 0, "keep_auto": 0, "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select submit('Fix it');
select play(format('[[["look", "%s"], ["finding", "Row %s"]]]', repeat('row ', 800), n)::jsonb, p_more => '{"usage": {}}') from generate_series(1, 9) n;
select context_compact(item());
select is(drive() ->> 'kind', 'call_model', 'the request is compacted');
select iteration_fail(item(), lease(), '{"class": "context_overflow", "message": "prompt is too long"}');
select is(drive() ->> 'kind', 'call_model', 'and, refused, once more');
select is((select count(*) from compactions where is_applied), 2::bigint, 'there are two');
select work_message(item(), 'Only April', true);
select is(drive() ->> 'kind', 'call_model', 'a request that a person broke off is made again');
select alike((select body -> 'messages' -> -1 from request order by n desc limit 1)::text, '%tool_result%t9_1%', 'the newest exchange is still shown');
select answer('[["look"]]'), run(), iteration_finish(item(), lease());
select is((select context_at(turn())::text), (select body::text from request order by n desc limit 1), 'the request is rebuilt to the byte');

select * from finish();
rollback;
