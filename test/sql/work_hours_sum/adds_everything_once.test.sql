-- work_hours_sum() adds what was done to the rows of its hour, each thing once; v_work_hours says the same before and after.
begin;
select plan(16);

set local work_ledger.now = '2026-01-01 12:30:00+00';
select agent('{"tools": ["look"]}');
select model_price_save('claude-sonnet-5-5', 3, 15);
select submit('Fix it');
create temporary view counted as
  select kind, name, sum(times)::int as times, sum(failures)::int as failures, sum(input_tokens)::int as input, sum(cached_input_tokens)::int as cached
    from v_work_hours group by 1, 2;
select play('[[["look"], ["look"]], [["look"], ["step", "Looked"]]]', p_more => '{"usage": {"input_tokens": 100, "cached_input_tokens": 300}}');
create temporary table before as select * from counted;
select results_eq($$ select kind, name, times, input, cached from before where kind = 'model' $$,
  $$ values ('model', 'turn', 2, 200, 600) $$, 'what no sweep has added is counted all the same');
select results_eq($$ select name, times, failures from before where kind = 'tool' order by name $$,
  $$ values ('ledger_append', 1, 0), ('look', 3, 0) $$, 'so are calls');
select is((select count(*) from work_hours), 0::bigint, 'nothing is added yet');

select later('30 seconds');
select work_hours_sum();
select is((select count(*) from work_hours), 0::bigint, 'the last minute is left out');
select later('5 minutes');
select is(work_hours_sum(), '2026-01-01 12:34:30+00', 'up to a minute ago');
select results_eq($$ select began_at, times, input_tokens from work_hours where kind = 'model' $$,
  $$ values ('2026-01-01 12:00+00'::timestamptz, 2::bigint, 200::bigint) $$, 'it is in its hour');
select results_eq('select * from counted order by 1, 2', 'select * from before order by 1, 2', 'the view says the same as before');
select work_hours_sum();
select results_eq('select * from counted order by 1, 2', 'select * from before order by 1, 2', 'nothing is added twice');

select play('[[["look"]]]', p_more => '{"usage": {"input_tokens": 100, "cached_input_tokens": 300}}');
select later('5 minutes');
select work_hours_sum();
select is((select count(*) from work_hours where kind = 'model'), 1::bigint, 'what is of the same hour comes to its row');
select is((select times from counted where kind = 'model'), 3, 'and is added');
select is((select sum(t) from work_hours h, unnest(h.took) t where kind = 'tool' and name = 'look'), 4::numeric, 'each call has its time');
select is((select _bucket_counts(array[0, 2, 2, null])), '{1,0,2}'::bigint[], 'times are counted in buckets');
select is((select _counts_add('{1,2}', '{0,1,5}')), '{1,3,5}'::bigint[], 'counts of different length are added');

-- What nobody added for days.
select later('3 days'), play('[[["look"]]]'), later('3 days'), play('[[["look"]]]'), later('5 minutes');
create temporary table late as select * from counted;
create temporary table ends as select sum(h.times) as times from v_work_hours h where h.kind = 'model' and h.name = 'turn';
select is((select work_hours_sum() < _now() - interval '1 day'), true, 'a day at most is added at once, from the next that has any work');
select work_hours_sum();
select is(work_hours_sum(), work_hours_sum(), 'until there is nothing left');
select is((select sum(times) from work_hours where kind = 'model'), (select times from ends), 'then everything is added');

select * from finish();
rollback;
