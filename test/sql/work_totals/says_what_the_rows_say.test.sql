-- work_totals() says of a time what the rows of its turns and calls say.
begin;
select plan(9);

set local work_ledger.now = '2026-01-01 12:30:00+00';
select agent('{"tools": ["look"]}');
select model_price_save('claude-sonnet-5-5', 3, 15);
select submit('Fix it');
select play('[[["look"], ["look"]], [["look"]]]', p_more => '{"usage": {"input_tokens": 100, "cached_input_tokens": 300}}');
select later('1 day');
select work_hours_sum();
select play('[[["look"]]]', p_more => '{"usage": {"input_tokens": 100, "cached_input_tokens": 300}}');

select results_eq('select requests, input_tokens, cached_input_tokens, output_tokens, cost from work_totals()',
  'select requests, input_tokens, cached_input_tokens, output_tokens, cost from cost_by($$total$$)', 'tokens and money are those of cost_by()');
select results_eq($$ select key, requests, cost from work_totals('model') $$, $$ select key, requests, cost from cost_by('model') $$, 'by model, too');
select results_eq($$ select key, cost from work_totals('faculty') where cost is not null $$, $$ select key, cost from cost_by('faculty') $$, 'by faculty, too');
select results_eq($$ select at, iterations from work_totals(p_step => 'day') $$,
  $$ values ('2026-01-01 00:00+00'::timestamptz, 2::bigint), ('2026-01-02 00:00+00', 1) $$, 'a row for each day');
select results_eq($$ select key, calls, failed_calls from work_totals('tool') $$, $$ values ('look', 4::bigint, 0::bigint) $$, 'tools by themselves');
select is((select requests from work_totals(p_from => '2026-01-02')), 1::bigint, 'of a time only what began in it');
select is_empty($$ select * from work_totals(p_project => 'github.com/acme/shop') where cost > (select cost from cost_by('total')) $$, 'of a project no more');
select throws_ok($$ select * from work_totals('colour') $$, 'WL002', null, 'by something else it is refused');
select throws_ok($$ select * from work_totals(p_step => 'week') $$, 'WL002', null, 'so is another step');

select * from finish();
rollback;
