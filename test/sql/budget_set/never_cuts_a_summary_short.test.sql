-- A response may be shorter for a budget, a summary may not: half of it would stand for the whole conversation.
begin;
select plan(3);

select agent('{"tools": ["look"], "compact_keep_recent": 2, "ledger_nudge_interval": 0, "max_output_tokens": 8000}', '{"awareness": {"enabled": false}}');
select submit('Fix it');
select drive(), answer('[["look"]]'), run(jsonb_build_array(jsonb_build_array('look', repeat('x', 3000)))), iteration_finish(item(), lease()) from generate_series(1, 5) n;
select context_compact(item(), 'rows');
-- The most that a summary may have, and room for its request and half of that.
create temporary table most as select drive(), (c.config ->> 'max_tokens')::integer as summary, _tokens(char_length(context_at(turn())::text), c.config ->> 'model') as input
  from turns t join turn_configs c on c.content_hash = t.config_hash where false;
select drive();
select is(stage() ->> 'kind', 'summarize', 'a summary is due');
insert into most select null, (c.config ->> 'max_tokens')::integer, _tokens(char_length(context_at(t.id)::text), c.config ->> 'model')
  from turns t join turn_configs c on c.content_hash = t.config_hash where t.id = turn();
select iteration_release(item(), lease());
select budget_set(item(), 'tokens', (select input + summary / 2 from most));
select is(drive() ->> 'kind', 'parked', 'without room for all of it none is asked for');
select budget_set(item(), 'tokens', (select 2 * (input + summary) from most));
select work_resume(item());
select is(drive() #>> '{request,max_tokens}', (select summary::text from most), 'with room for it it is asked for whole');

select * from finish();
rollback;
