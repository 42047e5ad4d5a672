-- The strategy "selective" shortens old results of calls that can be made again, before anything is summed up.
begin;
select plan(9);

select tool('act', 'unsafe');
select agent('{"tools": ["look", "act"], "compact_strategy": "selective", "compact_every": 6, "compact_keep_recent": 4, "elide_budget": 0, "keep_auto": 0, "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select submit('Fix it');

-- The second response and the eighth have a step that rides; calls alternate between the two tools.
select play(format('[[["%s", "%s"], %s]]', case n % 2 when 0 then 'look' else 'act' end, repeat(format('row %s ', n), 1200),
                   case when n in (2, 8) then format('["step", "Step %s"]', n) else '"I go on."' end)::jsonb) from generate_series(1, 9) n;
create function pg_temp.body(p_n integer) returns text language sql as $$ select body::text from request where n = p_n $$;

select results_eq($$ select compaction_type, trigger, is_applied, turns_summarized, metadata from v_compactions $$,
  $$ values ('selective', 'periodic', true, 3, '{"keep_recent": 4, "every": 6, "effect": "pure", "max_result_chars": 300, "results": 2}'::jsonb) $$, 'v_compactions says what was done, and why');
select ok(pg_temp.body(6) like '%' || repeat('row 4 ', 1200) || '%' and pg_temp.body(7) not like '%' || repeat('row 4 ', 100) || '%', 'an old result of a pure call is shortened');
select alike(pg_temp.body(7), '%' || repeat('row 3 ', 1200) || '%', 'an old result of another call is not shortened');
select alike(pg_temp.body(7), '%' || repeat('row 6 ', 1200) || '%', 'a new result is not shortened');
select alike(pg_temp.body(7), '%[completed step 1: see below]%', 'what was elided before stays elided');
select alike(artifact_read(substring(pg_temp.body(7) from 'artifact_read\(\\"([0-9a-f]{16})')), repeat('row 2 ', 1200), 'the handle of a shortened result brings it back');
select alike(pg_temp.body(9), '%[completed step 1: Step 2]%[completed step 2: see below]%', 'blocks are elided after it as ever');
select is(rebuilt(), 9::bigint, 'every request is rebuilt to the byte');
select results_eq($$ select shown from explain_turn((select turn_id from request where n = 7)) where turns > 0 $$, $$ values ('stub'), ('selective') $$, 'explain_turn says which blocks were shortened');

select * from finish();
rollback;
