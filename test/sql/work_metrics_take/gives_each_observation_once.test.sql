-- work_metrics_take() gives out each observation once; work_metrics() computes those of any time from rows.
begin;
select plan(10);

set local work_ledger.now = '2026-01-01 12:00:00+00';
select agent('{"tools": ["look"]}');
select is_empty($$ select * from work_metrics_take() $$, 'the first call gives nothing');
select is((select until_at from metrics_taken), '2026-01-01 12:00:00+00', 'counting begins with it');

select submit('Fix it');
select play('[[["look"], ["look"], ["finding", "It is TOML"]], [["step", "Looked"]]]', p_more => '{"usage": {"input_tokens": 100, "cached_input_tokens": 300}}');
select is_empty($$ select * from work_metrics_take() $$, 'nothing is given that may still be added to');
select later('1 minute');
create temporary table taken as select * from work_metrics_take();
select results_eq(
  $$ select metric, labels ->> 'entry_type', value, times from taken where metric !~ 'latency|size|^gen_ai' order by metric, value, labels ->> 'entry_type' $$,
  $$ values ('work.context.blocks_closed', null::text, 1::float8, 1::bigint), ('work.context.cache_read_ratio', null, 0.75, 2),
            ('work.engage.parallel_tools', null, 1, 1), ('work.engage.parallel_tools', null, 3, 1),
            ('work.ledger.entries', 'finding', 1, 1), ('work.ledger.entries', 'step', 1, 1) $$, 'each metric with its labels, its values and how often');
select results_eq(
  $$ select metric, labels ->> 'gen_ai.token.type', labels ->> 'gen_ai.tool.name', sum(times)::int, sum(value * times)::int from taken
      where metric ~ 'usage|tool' and metric ~ 'gen_ai' group by 1, 2, 3 order by 1, 2, 3 $$,
  $$ values ('gen_ai.client.token.usage', 'input', null, 2, 800),
            ('gen_ai.execute_tool.duration', null, 'ledger_append', 2, 0) $$, 'and by the names of the conventions');
select is((select times from taken where metric = 'work.awareness.digest_size'), 1::bigint, 'one digest was shown');
select is((select value from taken where metric = 'work.awareness.digest_size'), (select tokens::float8 from awareness_digests), 'its size is stored');
select is_empty($$ select * from work_metrics_take() $$, 'nothing is given twice');
select results_eq($$ select * from work_metrics('2026-01-01 12:00+00', '2026-01-01 12:01+00') order by metric, labels, value $$, $$ select * from taken order by metric, labels, value $$, 'the rows still say the same');
select later('3 hours');
select work_metrics_take();
select is((select until_at from metrics_taken), '2026-01-01 13:01:00+00', 'at most an hour at once');

select * from finish();
rollback;
