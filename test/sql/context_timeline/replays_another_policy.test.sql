-- Under another policy the timeline has the requests that context_replay_turns() counts, by part, with the cuts there would have been.
begin;
select plan(14);

select agent('{"tools": ["look", "read_file"], "elide_budget": 2500, "ledger_nudge_interval": 3}', '{"awareness": {"enabled": false}}');
select submit('Fix it');

-- Twelve responses, every third with a step that rides; a provider that counts.
do $$ begin
  for v_n in 1..12 loop
    perform drive();
    perform answer(jsonb_build_array('["look"]'::jsonb, case when v_n % 3 = 0 then jsonb_build_array('step', 'Step ' || v_n) else '"I look."' end),
      p_more => jsonb_build_object('usage', jsonb_build_object('input_tokens', (char_length((stage() -> 'request')::text) * 0.4)::integer, 'output_tokens', 30)));
    perform run(jsonb_build_array(jsonb_build_array('look', repeat('row ', 1000)))), iteration_finish(item(), lease());
  end loop;
end $$;

create temporary table policy (name text, policy jsonb);
insert into policy values ('own', '{}'), ('every', '{"elide_budget": 0}'), ('never', '{"truncate_closed_blocks": false}'),
  ('cleared', '{"clear_results_over": 6000, "clear_keep": 2}'), ('window', '{"keep_messages": 4}'),
  ('compacted', '{"truncate_closed_blocks": false, "context_window": 14000, "compact_keep_recent": 2}');
create temporary table line as
  select p.name, l.* from policy p cross join lateral context_timeline(item()::text, p.policy) l;
create temporary table counted as
  select p.name, r.* from policy p cross join lateral context_replay_turns(item()::text, p.policy) r;

select is((select count(*) from line), 72::bigint, 'every policy has every request');
select set_eq($$ select name, turn_id, sent, cached_tokens, written_tokens + cached_tokens as counted, jsonb_array_length(marks) from line $$,
  $$ select name, turn_id, input_tokens, cached_tokens, input_tokens as counted, (is_cut and iteration > 1)::integer from counted $$, 'with the size, the cached tokens and the cuts that are counted');
select is((select bool_and(sent = system + task + digest + stubs + kept + closed + words + results + people + engine) from line), true, 'sent is the sum of the parts');
select is((select count(distinct (system, task)) from line), 1::bigint, 'what is always there is the same under every policy');
select is((select array_agg(distinct name order by name) from line where stubs > 0), '{compacted,every,own}', 'stubs, or what stands in place of old turns, are where something is cut');
select ok((select max(closed) from line where name = 'never') > 5 * (select max(closed) from line where name = 'every'), 'closed blocks stay whole where nothing is cut');
select ok((select max(results) from line where name = 'cleared') < (select max(closed + results) from line where name = 'never'), 'cleared results are gone');
select is((select array_agg(distinct m ->> 'kind') from line, jsonb_array_elements(marks) m where name in ('own', 'every')), '{elision}', 'an elision is a mark');
select is((select array_agg(distinct m ->> 'kind') from line, jsonb_array_elements(marks) m where name = 'compacted'), '{compaction}', 'so is a compaction');
select is((select array_agg(distinct m) from line, jsonb_array_elements(marks) m where name in ('cleared', 'window')), array['{"kind": "cut"}'::jsonb], 'and any other change of what had been sent');
select results_eq(
  $$ select n, (m - 'kind')::text from line, jsonb_array_elements(marks) m where name = 'own' order by n $$,
  $$ select n, (m - array['kind', 'trigger', 'elision_id', 'turn_id'])::text from context_timeline(item()::text), jsonb_array_elements(marks) m order by n $$,
  'the session''s own policy cuts as the session was cut, with the same figures');
select results_eq(
  $$ select n, task > 0, stubs > 0, closed > 0, words > 0, results > 0 from line where name = 'own' order by n $$,
  $$ select n, task > 0, stubs > 0, closed > 0, words > 0, results > 0 from context_timeline(item()::text) order by n $$, 'and its requests have the same parts');
select results_eq(
  $$ select turn_id, n, sent, marks from context_timeline(item()::text, '{"elide_budget": 0}', (select turn_id from line where name = 'own' and n = 5), 4) $$,
  $$ select turn_id, n, sent, marks from line where name = 'every' and n between 6 and 9 order by n $$, 'a page of it is replayed from the beginning');

alter table turn_sizes disable trigger all;
update turn_sizes set call_number = 1001 where turn_id = (select head_turn_id from sessions where label = item()::text);
select throws_ok($$ select * from context_timeline(item()::text, '{}') $$, 'WL002', null, 'a session of more than 1,000 calls is not replayed');

select * from finish();
rollback;
