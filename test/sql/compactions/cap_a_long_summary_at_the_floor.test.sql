-- At the floor a summary has a tenth of the room, however long it is: what is left is for the ledger and the last exchange.
begin;
select plan(4);

select tool('act', 'unsafe');
select agent('{"tools": ["look", "act"], "context_window": 20000, "compact_keep_recent": 2, "max_result_chars": 200000, "elide_budget": 0, "keep_auto": 0, "ledger_nudge_interval": 0}',
  '{"awareness": {"enabled": false}}');
select submit('Fix it');
select play(format('[[["look", "%s"]]]', repeat('row ', 800))::jsonb, p_more => '{"usage": {}}') from generate_series(1, 7);
select context_compact(item(), 'rows');
select drive();
select ok(summary_record(item(), lease(), turn(), jsonb_build_object('content', jsonb_build_array(jsonb_build_object('type', 'text', 'text', repeat('sum ', 2000))))::json),
  'the work is summed up at length');
select begin_iteration(), answer('[["look"]]', p_more => '{"usage": {}}'), run(), iteration_finish(item(), lease());
select play(format('[[["act", "%s"]]]', repeat('large ', 20000))::jsonb, p_more => '{"usage": {}}');
select drive();
select is((select string_agg(compaction_type, ' ' order by created_at) from compactions where is_applied), 'summary floor', 'a result is too large for what the summary leaves');
select cmp_ok(regexp_count(told((select max(n)::integer from request)), 'sum '), '<', 1500, 'the summary is cut');
select is(rebuilt(), (select count(*) from request), 'every request is rebuilt to the byte');

select * from finish();
rollback;
