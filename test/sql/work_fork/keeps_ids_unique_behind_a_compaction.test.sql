-- A fork that begins with a compaction goes on to know the ids of its source: one that comes again gets another name in requests.
begin;
select plan(4);

select agent('{"tools": ["look"], "compact_keep_recent": 2, "elide_budget": 0, "keep_auto": 0, "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select submit('Fix it');
select play(format('[[["look", "%s"], ["finding", "Row %s"]]]', repeat('row ', 800), n)::jsonb) from generate_series(1, 6) n;
select take(work_fork(turn()));
select claim();
select context_compact(item());
select is(begin_iteration() ->> 'kind', 'call_model', 'the fork asks');
select is((select compaction_type from compactions where work_item_id = item()), 'ledger', 'behind a compaction');
-- As a provider does that numbers the calls of each response anew.
select turn_record(item(), lease(), turn(), '{"stop_reason": "tool_use", "content": [{"type": "tool_use", "id": "t6_1", "name": "look", "input": {}}]}');
select isnt((select provider_id from tool_calls where turn_id = turn()), 't6_1', 'an id of its source is not used again');
select is((select given_id from tool_calls where turn_id = turn()), 't6_1', 'it is noted');

select * from finish();
rollback;
