-- A session is assembled anew under another policy of context: which cuts there would have been, and what the requests would have cost.
begin;
select plan(11);

select agent('{"tools": ["look"], "elide_budget": 0}', '{"awareness": {"enabled": false}}');
select submit('Fix it');

-- Twelve responses, every third with a step that rides; a provider that counts as the family does.
do $$ begin
  for v_n in 1..12 loop
    perform drive();
    perform answer(jsonb_build_array('["look"]'::jsonb, case when v_n % 3 = 0 then jsonb_build_array('step', 'Step ' || v_n) else '"I look."' end),
      p_more => jsonb_build_object('usage', jsonb_build_object('input_tokens', (char_length((stage() -> 'request')::text) * 0.43)::integer, 'output_tokens', 30)));
    perform run(jsonb_build_array(jsonb_build_array('look', repeat('row ', 1000)))), iteration_finish(item(), lease());
  end loop;
end $$;
create temporary table session as select session_label as label from foci;

select results_eq(
  $$ select iteration from context_replay_turns((select label from session)) where is_cut order by iteration $$,
  $$ select t.iteration from turns t join turns p on p.id = t.parent_turn_id where t.elision_id is distinct from p.elision_id order by t.iteration $$,
  'the session''s own policy cuts where the session was cut');
select is(
  (select count(*) from context_replay_turns((select label from session), '{"elide_budget": 0}') r join turns t on t.id = r.turn_id
    where abs(r.input_tokens - t.input_tokens) <= 0.15 * t.input_tokens), 12::bigint,
  'the sizes are those that the provider counted');

select is(
  (select string_agg(distinct coalesce(r.kinds[r.cached_parts], 'nothing'), ' ')
     from (select *, row_number() over (order by iteration) as n from _replay_requests((select label from session), '{}') where (cut).id is not null) r
    where r.n > 1), 'stubs', 'at a cut the cache still serves the stubs of the cut before it');

create temporary table policy as
  select name, (context_replay((select label from session), policy)).*
    from (values ('own', '{}'::jsonb), ('none', '{"truncate_closed_blocks": false}'), ('budget', '{"elide_budget": 1000000}'),
                 ('compacted', '{"truncate_closed_blocks": false, "context_window": 14000, "compact_keep_recent": 2}'),
                 ('window', '{"keep_messages": 4}'), ('cleared', '{"clear_results_over": 8000, "clear_keep": 2}')) as v(name, policy);
select is((select count(*) from policy where model_calls = 12), 6::bigint, 'every policy has every request of the past');
select is((select cuts from policy where name = 'none'), 0, 'a policy that truncates nothing cuts nothing');
select is((select input_tokens from policy where name = 'budget'), (select input_tokens from policy where name = 'none'), 'a budget that is never reached is like none');
select cmp_ok((select input_tokens from policy where name = 'own'), '<', (select input_tokens * 55 / 100 from policy where name = 'none'), 'stubs are smaller than blocks');
select cmp_ok((select peak_tokens from policy where name = 'compacted'), '<', 14000 * 7 / 10, 'a compaction keeps requests under its threshold');
select cmp_ok((select cuts from policy where name = 'window'), '>', 8, 'a sliding window moves the prefix with every request');
select throws_ok($$ select context_replay((select label from session), '{"budget": 1}') $$, 'WL002', '"budget" is not a key of a context policy', 'an unknown key of a policy is refused');
select throws_ok($$ select context_replay('nobody') $$, 'WL001', 'there is no session "nobody"', 'a session that is not there is an error');

select * from finish();
rollback;
