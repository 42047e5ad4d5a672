begin;
select plan(12);

select agent('{"tools": ["look"], "elide_budget": 0, "ledger_nudge_interval": 2, "compact_keep_recent": 2}', '{"awareness": {"refresh_every": 1}, "hooks": {"before_model_call": "ask"}}');
create temporary table other as select * from work_submit('write', 'Write it', p_faculty => 'nobody');
select submit('A task');
create temporary table held (lease uuid, stage json);
-- The hook says how many requests there were.
create function pg_temp.next() returns text language plpgsql as $$
begin
  delete from held;
  insert into held (lease) select (focus_claim(item(), 'w') ->> 'lease')::uuid;
  update held set stage = iteration_begin(item(), lease);
  if (select stage ->> 'kind' from held) = 'run_hook' then
    perform hook_record(item(), lease, (stage ->> 'hook_run_id')::uuid,
      jsonb_build_object('exit_code', 0, 'stdout', jsonb_build_object('say', format('Hook %s', (select count(*) from hook_runs)))::text)) from held;
    update held set stage = iteration_begin(item(), lease);
  end if;
  return (select concat_ws(' ', stage ->> 'kind', stage #>> '{request,messages}') from held);
end
$$;
create function pg_temp.look() returns void language plpgsql as $$
declare
  v_turn uuid;
begin
  perform pg_temp.next();
  v_turn := (select (stage ->> 'turn_id')::uuid from held);
  perform turn_record(item(), (select lease from held), v_turn, '{"stop_reason": "tool_use", "usage": {"input_tokens": 1000}, "content": [{"type":"tool_use","id":"a","name":"look","input":{}}]}');
  perform tool_call_settle(item(), (select lease from held), k.id, repeat('seen ', 2000)) from tool_calls k where k.turn_id = v_turn;
  perform iteration_finish(item(), (select lease from held));
end
$$;

select pg_temp.look(), pg_temp.look();
select from ledger_append((select id from other), 'finding', 'The cache is stale');
select alike(pg_temp.next(), '%The cache is stale%Hook 3%several iterations without%', 'the third request has news, what the hook says, and a reminder');
select from work_message(item(), 'Only March, please', true);
select is((select count(*) from awareness_shown), 0::bigint, 'broken off, it told nothing');
select is((select nudge_iteration from foci), 0, 'nor did it remind');
select alike(pg_temp.next(), '%Only March, please%The cache is stale%Hook 4%several iterations without%', 'the next one says all of it');
select is((select count(*) from v_nudges), 1::bigint, 'which is one reminder');
select iteration_release(item(), (select lease from held));
select alike(pg_temp.next(), '%Only March, please%The cache is stale%Hook 4%several iterations without%', 'after a crash it is asked as it was');
select results_eq($$ select hook, status from hook_runs order by created_at desc limit 1 $$, $$ values ('before_model_call', 'completed') $$, 'without the hook');

-- While nobody asks: between two tries.
select is(iteration_fail(item(), (select lease from held), '{"class": "timeout"}') ->> 'kind', 'retry', 'it is asked again later');
select from work_message(item(), 'And only the first week', true);
select alike(pg_temp.next(), 'call_model%Only March, please%And only the first week%The cache is stale%Hook 5%', 'who interrupts then is heard with the next try, which comes at once');
select iteration_release(item(), (select lease from held));
select pg_temp.look();

-- While a summary is written.
select context_compact(item(), 'the first week');
select matches(pg_temp.next(), 'summarize.*Above all: the first week', 'asked for by hand');
select from work_message(item(), 'Not that one', true);
select matches(pg_temp.next(), 'summarize.*Above all: the first week', 'an interruption does not call it off');
select ok(summary_record(item(), (select lease from held), (select (stage ->> 'turn_id')::uuid from held), '{"content": [{"type": "text", "text": "Looked."}], "stop_reason": "end_turn"}'), 'and is used');

select * from finish();
rollback;
