-- What caused a compaction is said in one word by its span and by the metric: threshold, emergency, manual or periodic.
begin;
select plan(6);

set local work_ledger.now = '2026-01-01 12:00:00+00';
-- Three iterations with long results, an hour after all that was played before.
create function pg_temp.long(p_engage jsonb default '{}') returns void language sql as $$
  select later('1 hour');
  select agent('{"tools": ["look"], "compact_keep_recent": 2, "elide_budget": 0, "keep_auto": 0, "ledger_nudge_interval": 0}' || p_engage, '{"awareness": {"enabled": false}}');
  select submit();
  select play(format('[[["look", "%s"], ["finding", "Row %s"]]]', repeat('seen ', 4000), n)::jsonb, p_more => '{"usage": {}}') from generate_series(1, 3) n $$;
-- The words of the row, of the trace, and of the metrics of the last minute.
create function pg_temp.told() returns setof text language sql as $$
  select 'row ' || trigger from v_compactions where work_item_id = item() and is_applied
  union all select 'span ' || (attributes ->> 'trigger') from work_trace(item()) where name = 'work.context.compaction'
  union all select 'metric ' || (labels ->> 'trigger') from work_metrics(_now() - interval '1 minute', _now() + interval '1 second') where metric = 'work.context.compactions' $$;

select pg_temp.long('{"context_window": 20000}');
select play('[[["look"]]]');
select set_eq($$ select pg_temp.told() $$, array['row context_limit', 'span threshold', 'metric threshold'], 'compact_threshold was reached');

select pg_temp.long();
select drive(), iteration_fail(item(), lease(), '{"class": "context_overflow", "message": "prompt is too long"}');
select is_empty($$ select pg_temp.told() $$, 'what the model refused is sent again');
select play('[[["look"]]]');
select set_eq($$ select pg_temp.told() $$, array['row context_overflow', 'span emergency', 'metric emergency'], 'the model refused the request for its size');

select pg_temp.long();
select context_compact(item());
select play('[[["look"]]]');
select set_eq($$ select pg_temp.told() $$, array['row manual', 'span manual', 'metric manual'], 'someone asked for it');

select pg_temp.long('{"compact_every": 3}');
select play('[[["look"]]]');
select set_eq($$ select pg_temp.told() $$, array['row periodic', 'span periodic', 'metric periodic'], 'compact_every iterations were over');

select is((select string_agg(t.word, ' ' order by t.word) from pg_constraint c, regexp_matches(pg_get_constraintdef(c.oid), '''(\w+)''', 'g') m, unnest(m) t(word) where c.conrelid = 'compactions'::regclass and c.conname = 'trigger_is_known'),
  'context_limit context_overflow manual periodic', 'there is no other trigger');

select * from finish();
rollback;
