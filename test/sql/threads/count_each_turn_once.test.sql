-- The total of a thread is what its turn and all above it cost, each turn once: in work, in recorded sessions, in forks.
begin;
select plan(6);

select agent('{"ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select submit('Find why the import is slow');
create function pg_temp.turn(p_usage jsonb) returns void language sql as $$
  select play('[["a"]]', p_more => jsonb_build_object('stop_reason', 'pause_turn', 'usage', p_usage)) $$;
select from pg_temp.turn('{"input_tokens": 1000, "output_tokens": 10}');
select from pg_temp.turn('{"input_tokens": 20, "output_tokens": 30, "cached_input_tokens": 1000, "cache_write_tokens": 5}');
select results_eq($$ select depth, total_tokens from threads where work_item_id = item() order by depth $$,
  $$ values (0, 1010::bigint), (1, 2065::bigint) $$, 'a thread of our own work counts its turns');
select from pg_temp.turn('{"input_tokens": 7, "output_tokens": 3}');
create temporary table fork as select * from work_fork((select id from turns where work_item_id = item() and depth = 1));

select from session_import('{"format": "pi", "sessionId": "s", "prompt": "Fix it", "exchanges": [
  {"text": "one", "calls": [], "usage": {"inputTokens": 100, "outputTokens": 5}, "followUp": "And then"},
  {"text": "two", "calls": [], "usage": {"inputTokens": 50, "outputTokens": 6, "cachedInputTokens": 100}, "followUp": "go on"},
  {"text": "three", "calls": [], "compactSummary": "All so far", "followUp": "and on"},
  {"text": "four", "calls": [], "usage": {"outputTokens": 1}}]}');
select results_eq($$ select h.total_tokens from threads h join turns t on t.id = h.turn_id join work_items w on w.id = t.work_item_id where w.external_id = 'import:pi:s' order by h.depth $$,
  $$ values (105::bigint), (261), (261), (261), (262) $$, 'a thread of a recorded session counts its turns and its compaction');

-- Whoever wrote a turn: its total is its own and that of all above it.
select is_empty($$ select h.turn_id, h.total_tokens from threads h
  where h.total_tokens <> (select sum(a.total_tokens) from turn_ancestry(h.turn_id) g join turns a on a.id = g.id) $$, 'each turn above is counted, once');
select is((select count(*) from threads), 8::bigint, 'there are eight threads');
create temporary table again as select * from work_fork((select t.id from turns t join work_items w on w.id = t.work_item_id where w.external_id = 'import:pi:s' and t.depth = 1), p_faculty => 'worker');
select take(id) from again;
select from pg_temp.turn('{"input_tokens": 1, "output_tokens": 1}');
select is((select total_tokens from threads where work_item_id = item()), 263::bigint, 'a fork of a recorded turn goes on from its sum');
select take(id) from fork;
select from pg_temp.turn('{"input_tokens": 1, "output_tokens": 1}');
select is((select total_tokens from threads where work_item_id = item()), 2067::bigint, 'a fork of a turn of our own goes on from its sum');

select * from finish();
rollback;
