-- work_gauges() says how the ledger stands: what is due, who works, what waits, and what was done in all.
begin;
select plan(15);

set local work_ledger.now = '2026-01-01 12:00:00+00';
create temporary view gauge as select metric, labels - 'faculty' as labels, labels ->> 'faculty' as faculty, value from work_gauges();
create function pg_temp.of(text, text default null) returns double precision language sql as $$
  select sum(value) from gauge where metric = $1 and ($2 is null or labels::text like '%' || $2 || '%' or faculty = $2) $$;
select agent('{"tools": ["look"]}', '{"max_concurrent": 2}');
select is(pg_temp.of('work.queue.due'), 0::float8, 'nothing is due, and it is said');
select is(pg_temp.of('work.approvals.waiting'), 0::float8, 'nothing waits for approval, and it is said');
select is(pg_temp.of('work.workers.alive'), 0::float8, 'nobody works');
select submit('Fix it');
select id from work_submit('unknown', 'Nobody does this');
select id from work_submit((select work_type from work_items limit 1), 'Later', p_run_at => '2026-01-02');
select later('1 minute');
select is(pg_temp.of('work.queue.due'), 2::float8, 'what is not due yet does not count');
select is(pg_temp.of('work.queue.due', 'none'), 1::float8, 'what no faculty accepts is of none');
select is((select max(value) from gauge where metric = 'work.queue.oldest_age'), 60::float8, 'the oldest is a minute old');
select is(pg_temp.of('work.slots.free'), 2::float8, 'both slots are free');
select lease_renew('worker-1', '{}', '{}');
select is(pg_temp.of('work.workers.alive'), 1::float8, 'one worker is alive');
select play('[[["look"], ["look"]]]', p_more => '{"usage": {"input_tokens": 100, "cached_input_tokens": 300}}');
select is(pg_temp.of('work.model.tokens', 'cache_read'), 300::float8, 'tokens by what they are');
select is(pg_temp.of('work.tool.calls', 'look'), 2::float8, 'calls by tool');
select is(pg_temp.of('work.model.requests'), 1::float8, 'answered requests');
select is_empty($$ select metric from gauge except select name from v_metrics where type in ('gauge', 'total') $$, 'each is in v_metrics');
select is_empty($$ select g.metric, k from work_gauges() g, jsonb_object_keys(g.labels) k join v_metrics m on true
                    where m.name = g.metric and k <> all (m.labels) $$, 'so is each label');
select is((select count(*) from work_gauges()), (select count(distinct (metric, labels)) from work_gauges()), 'no series is there twice');
select is(pg_temp.of('work.retention.lag'), 0::float8, 'no policy is behind');

select * from finish();
rollback;
