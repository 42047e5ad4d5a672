-- At the floor the results of the last exchange are shortened whatever made them, each by its share, and named by a handle that has all of it.
begin;
select plan(6);

select tool('act', 'unsafe'), tool('execute_code', 'idempotent');
select agent('{"tools": ["look", "act"], "code_execution": true, "context_window": 20000, "compact_strategy": "selective", "compact_keep_recent": 2, "max_result_chars": 200000, "elide_budget": 0, "keep_auto": 0, "ledger_nudge_interval": 0}',
  '{"awareness": {"enabled": false}}');
create function pg_temp.newest() returns text language sql as $$ select body::text from request order by n desc limit 1 $$;

select submit('Fix it');
select play(format('[[["look", "%s"], ["finding", "Row %s"]]]', repeat(format('row %s ', n), 500), n)::jsonb, p_more => '{"usage": {}}') from generate_series(1, 3) n;
select context_compact(item());
select play(format('[[["act", "%s"], ["look"]]]', repeat('large ', 20000))::jsonb, p_more => '{"usage": {}}');
select drive();
select is((select string_agg(compaction_type, ' ' order by created_at) from compactions), 'selective floor', 'a result is too large for what the strategy leaves');
select alike(pg_temp.newest(), '%tool_result%large large large%artifact_read(%', 'it is shortened, though it cannot be made again');
select is(artifact_read(substring(pg_temp.newest() from 'artifact_read\(\\"([0-9a-f]{16})'), 'c1-12'), 'large large ', 'its handle leads to all of it');

-- Code that called a tool twenty times has one result.
select submit('Compute it');
select play('[[["look"]]]', p_more => '{"usage": {}}');
select drive(), answer('[["execute_code", {"code": "x"}]]', p_more => '{"usage": {}}');
create temporary table code as select id from tool_calls where turn_id = turn();
select tool_call_begin(item(), lease(), id) from code;
select tool_call_nested(item(), lease(), c.id, n, 'look', '{}') from code c, generate_series(0, 19) n;
select tool_call_settle(item(), lease(), k.id, 'seen') from tool_calls k where k.turn_id = turn() and k.parent_call_id is not null order by k.ordinal;
select tool_call_settle(item(), lease(), id, repeat('much ', 20000)) from code;
select iteration_finish(item(), lease());
select drive();
select is((select compaction_type from compactions where work_item_id = item()), 'floor', 'the result of code is too large, too');
select cmp_ok(regexp_count(pg_temp.newest(), 'much '), '>', 500, 'it has room, however many calls it made');
select is(rebuilt(), (select count(*) from request), 'every request is rebuilt to the byte');

select * from finish();
rollback;
