-- A request that an interruption broke off has told nothing: the next one says all of it again, and the message.
begin;
select plan(12);

select agent('{"tools": ["look"], "elide_budget": 0, "ledger_nudge_interval": 2, "compact_keep_recent": 2}', '{"awareness": {"refresh_every": 1}, "hooks": {"before_model_call": "ask"}}');
create temporary table other as select * from work_submit('write', 'Write it', p_faculty => 'nobody');
select submit('A task');
-- The next request, after its hook, which says how many requests there were.
create function pg_temp.next() returns text language plpgsql as $$
begin
  perform drive();
  if stage() ->> 'kind' = 'run_hook' then
    perform hook_record(item(), lease(), (stage() ->> 'hook_run_id')::uuid,
      jsonb_build_object('exit_code', 0, 'stdout', jsonb_build_object('say', format('Hook %s', (select count(*) from hook_runs)))::text)), begin_iteration();
  end if;
  return concat_ws(' ', stage() ->> 'kind', stage() #>> '{request,messages}');
end
$$;
create function pg_temp.look() returns void language sql as $$
  select pg_temp.next(), answer('[["look"]]', p_more => '{"usage": {"input_tokens": 1000}}'), run(format('[["look", "%s"]]', repeat('seen ', 2000))::jsonb), iteration_finish(item(), lease()) $$;

select pg_temp.look(), pg_temp.look();
select from ledger_append((select id from other), 'finding', 'The cache is stale');
select alike(pg_temp.next(), '%The cache is stale%Hook 3%several iterations without%', 'the third request has news, what the hook says, and a reminder');
select from work_message(item(), 'Only March, please', true);
select is((select count(*) from awareness_shown), 0::bigint, 'a request that was broken off told no news');
select is((select nudge_iteration from foci), 0, 'a request that was broken off did not remind');
select alike(pg_temp.next(), '%Only March, please%The cache is stale%Hook 4%several iterations without%', 'the next request says all of it');
select is((select count(*) from v_nudges), 1::bigint, 'the reminder of a request that was broken off and of the next one is one reminder');
select iteration_release(item(), lease());
select alike(pg_temp.next(), '%Only March, please%The cache is stale%Hook 4%several iterations without%', 'after a crash the request is asked as it was');
select results_eq($$ select hook, status from hook_runs order by created_at desc limit 1 $$, $$ values ('before_model_call', 'completed') $$, 'after a crash the hook is not run again');

-- While nobody asks: between two tries.
select is(iteration_fail(item(), lease(), '{"class": "timeout"}') ->> 'kind', 'retry', 'a request that timed out is asked again later');
select from work_message(item(), 'And only the first week', true);
select alike(pg_temp.next(), 'call_model%Only March, please%And only the first week%The cache is stale%Hook 5%', 'who interrupts then is heard with the next try, which comes at once');
select iteration_release(item(), lease());
select pg_temp.look();

-- While a summary is written.
select context_compact(item(), 'the first week');
select matches(pg_temp.next(), 'summarize.*Above all: the first week', 'a summary is asked for by hand');
select from work_message(item(), 'Not that one', true);
select matches(pg_temp.next(), 'summarize.*Above all: the first week', 'an interruption does not call it off');
select ok(summary_record(item(), lease(), turn(), '{"content": [{"type": "text", "text": "Looked."}], "stop_reason": "end_turn"}'), 'the summary is used');

select * from finish();
rollback;
