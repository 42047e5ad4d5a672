-- Every request to a model is a span: those that failed, that were lost with their worker, given back or interrupted, and those for summaries.
begin;
select plan(13);

select agent('{"tools": ["look"], "ledger_nudge_interval": 0, "compact_keep_recent": 1, "elide_budget": 1000000}', '{"awareness": {"enabled": false}}');
select submit('A task');
create function pg_temp.chats(p_iteration integer) returns text language sql as $$
  select string_agg(concat_ws(' ', attributes ->> 'work.model_call.attempt', status, attributes ->> 'error.type'), ', ' order by started_at, span_id = '')
    from work_trace(item()) where attributes ->> 'work.span' = 'gen_ai.chat' and (attributes ->> 'work.iteration')::integer = p_iteration $$;
-- Answers an iteration with one call.
create function pg_temp.go() returns void language sql as $$ select answer('[["look"]]'), run(format('[["look", "%s"]]', repeat('seen ', 4000))::jsonb), iteration_finish(item(), lease()) $$;

select drive(), later('1 second');
select iteration_fail(item(), lease(), '{"class": "overloaded", "status": 529, "request_id": "req_1", "message": "too much"}'), later('2 minutes');
select drive(), later('2 minutes');
select work_sweep(), later('1 second'), drive(), later('1 second');
select iteration_release(item(), lease()), later('1 second'), drive(), later('1 second'), pg_temp.go();
select is(pg_temp.chats(1), '1 error overloaded, 2 error lost, 3 error lost, 4 unset', 'failed, lost with its worker, given back, answered');
select results_eq(
  $$ select attributes ->> 'http.response.status_code', attributes ->> 'work.request.id' from work_trace(item()) where attributes ->> 'error.type' = 'overloaded' $$,
  $$ values ('529', 'req_1') $$, 'what the provider said');
select is((select ended_at - started_at from work_trace(item()) where attributes ->> 'work.span' = 'gen_ai.chat' and attributes ->> 'work.model_call.attempt' = '2'), interval '30 seconds',
  'a request whose worker died ends with its lease');

select drive(), later('1 second');
select from work_message(item(), 'Stop', true);
select drive(), later('1 second'), pg_temp.go();
select is(pg_temp.chats(2), '1 error lost, 1 unset', 'a request that an interruption broke off, and the one made in its place');
select is((select count(*) from work_trace(item()) where name = 'work.engage.iteration'), 2::bigint, 'belong to one iteration');

select drive(), pg_temp.go(), context_compact(item()), drive();
select is(stage() ->> 'kind', 'summarize', 'a summary is asked for');
select later('1 second'), iteration_fail(item(), lease(), '{"class": "timeout"}'), later('2 minutes'), drive(), later('1 second');
select summary_record(item(), lease(), turn(), '{"content": [{"type": "text", "text": "Looked."}], "stop_reason": "end_turn", "usage": {"input_tokens": 700, "output_tokens": 3}}');
select begin_iteration(), later('1 second'), pg_temp.go();
select is(pg_temp.chats(4), '1 error timeout, 2 unset, 1 unset', 'requests for a summary belong to the iteration that needed it');
select is((select count(*) from work_trace(item()) s join work_trace(item()) c on c.span_id = s.parent_span_id and c.name = 'work.context.compaction'
            where s.attributes ->> 'work.span' = 'gen_ai.chat' and c.attributes ->> 'work.context.compaction.type' = 'summary' and c.attributes ->> 'trigger' = 'manual'), 2::bigint,
  'below the compaction');
select is((select count(*) from work_trace(item()) s where s.name = 'work.context.compaction' and s.status = 'unset'
             and (s.attributes ->> 'messages_after')::integer < (s.attributes ->> 'messages_before')::integer), 1::bigint, 'which says what it left out');

select drive(), later('1 second');
select from work_cancel(item());
select is(pg_temp.chats(5), '1 error lost', 'a request under way when the work was cancelled');
select results_eq(
  $$ select status, attributes ->> 'work.outcome' from work_trace(item()) where attributes ->> 'work.span' = 'work.execute' $$, $$ values ('unset', 'cancelled') $$,
  'who is cancelled has not failed');

select submit('A task'), drive(), later('1 second');
select iteration_begin(item(), lease()), later('1 second'), pg_temp.go();
select is(pg_temp.chats(1), '1 error lost, 2 unset', 'a request begun again under the same lease, because the worker did not hear of the first');
select is((select count(*) from model_calls where attempt < 1), 0::bigint, 'what was never begun has not failed');

select * from finish();
rollback;
