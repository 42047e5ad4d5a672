-- Times that never come and numbers that no column holds are refused with a word on what is meant.
begin;
select plan(9);

select throws_ok($$ select work_submit('a', 'x', p_run_at => 'infinity') $$, 'WL002', null, 'a time that never comes is refused');
select throws_ok($$ select work_submit('a', 'x', p_run_at => '-infinity') $$, 'WL002', null, 'a time that never was is refused');
select throws_ok($$ select work_submit('a', 'x', p_dedup_key => repeat('x', 1001)) $$, 'WL002', 'a deduplication key can have at most 1,000 bytes, not 1001', 'a key that no index holds is refused');
select throws_ok($$ select work_sweep('-1 day') $$, 'WL002', null, 'a negative silence of workers is refused');
select throws_ok($$ select journal_cleanup('-1000 years') $$, 'WL002', null, 'a negative age of sessions is refused');
select is(_count('usage.input_tokens', '2766'), 2766, 'a count is a number');
select throws_ok($$ select _count('usage.input_tokens', ' ') $$, 'WL002', 'usage.input_tokens must be a whole number from 0 to 100,000,000, not ""', 'an empty text is shown as one');
select throws_ok($$ select _count('usage.input_tokens', '2766.8') $$, 'WL002', 'usage.input_tokens must be a whole number from 0 to 100,000,000, not 2766.8', 'a count that is a fraction is refused');
select throws_ok($$ select _count('usage.input_tokens', '-1') $$, 'WL002', null, 'a negative count is refused');

select * from finish();
rollback;
