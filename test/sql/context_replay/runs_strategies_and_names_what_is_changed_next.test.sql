-- A policy may have any strategy of compaction, and may keep what the next calls are about to change.
begin;
select plan(9);

select tool('Edit', 'unsafe');
select agent('{"tools": ["Read", "Edit"], "elide_budget": 0, "keep_auto": 0, "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select submit('Fix it');

-- Six files are read one by one; a step closes the block; then they are edited one by one, with a step beside every third edit.
select play(format('[[["Read", {"file_path": "/src/f%s.ts"}, "%s"], "I go on."]]', n, repeat(format('line of f%s ', n), 300))::jsonb) from generate_series(1, 6) n;
select play(format('[[["Edit", {"file_path": "/src/f%s.ts", "old_string": "a", "new_string": "b"}, "%s"], %s]]', n - 6, repeat(format('line of f%s ', n), 50),
                   case when n in (7, 10) then format('["step", "Step %s"]', n) else '"I go on."' end)::jsonb) from generate_series(7, 12) n;
create temporary table session as select session_label as label from foci;
create function pg_temp.said(p_policy jsonb, p_iteration integer) returns text language sql as
  $$ select array_to_string(new_texts, E'\n') from session s, _replay_requests(s.label, p_policy) where iteration = p_iteration $$;

select is(pg_temp.said('{}', 8) like '%Kept%', false, 'an agent that names nothing is given nothing');
select is(_edited_ahead((select array_agg(t order by depth) from turns t where depth >= 7), 3), '{/src/f2.ts,/src/f3.ts,/src/f4.ts}', 'what the next calls change is read from the past');
select ok(pg_temp.said('{"keep": {"ahead": 3}}', 8) like all (array['%# /src/f2.ts%line of f2%', '%# /src/f4.ts%line of f4%']), 'what the next calls change is named, and its content kept');
select unalike(pg_temp.said('{"keep": {"ahead": 3}}', 8), '%# /src/f5.ts%', 'a file that is changed later than that is not kept');
select unalike(pg_temp.said('{"keep": {"ahead": 3, "budget": 1500}}', 8), '%line of f3 line%', 'what is kept has a budget of tokens');
select throws_ok($$ select context_replay((select label from session), '{"keep": {"budget": 1}}') $$, 'WL002', null, 'a policy that keeps says how many calls ahead');

select results_eq($$ select iteration from session s, context_replay_turns(s.label, '{"truncate_closed_blocks": false, "compact_strategy": "sliding_window", "compact_every": 4, "compact_keep_recent": 4}') where is_cut $$,
  'values (5), (9)', 'a sliding window moves every so many iterations');
select ok(pg_temp.said('{"truncate_closed_blocks": false, "compact_strategy": "selective", "compact_every": 9, "compact_keep_recent": 2}', 10) like all (array[
  '%artifact_read%', '%' || repeat('line of f7 ', 50) || '%']), 'a selective compaction shortens results of pure calls, and no other');
select throws_ok($$ select context_replay((select label from session), '{"compact_every": "often"}') $$, 'WL002', null, 'a policy has the types of a faculty');

select * from finish();
rollback;
