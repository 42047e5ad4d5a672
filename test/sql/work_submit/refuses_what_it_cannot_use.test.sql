-- Work is submitted with a type, a description and options that can be used.
begin;
select plan(8);

select throws_ok($$ select work_submit('', 'x') $$, 'WL002', null, 'an empty work type is refused');
select throws_ok($$ select work_submit('a', '  ') $$, 'WL002', null, 'a blank description is refused');
select throws_ok($$ select work_submit('a', repeat('x', 70000)) $$, 'WL002', null, 'a description over 64 KiB is refused');
select throws_ok($$ select work_submit('a', 'x', '[1]') $$, 'WL002', null, 'params that are no object are refused');
select throws_ok($$ select work_submit('a', 'x', jsonb_build_object('conversationId', (select string_agg(md5(n::text), '') from generate_series(1, 100) n))) $$, 'WL002', null, 'nor a conversation whose id is too long for an index');
select throws_ok($$ select work_submit('a', 'x', p_max_attempts => 0) $$, 'WL002', null, 'no attempt at all is refused');
select throws_ok($$ select work_submit('a', 'x', p_dedup_key => '') $$, 'WL002', null, 'an empty key is refused');
select throws_ok($$ select work_submit('a', 'x', p_parent_id => '00000000-0000-7000-8000-000000000000') $$, 'WL001', null, 'a parent that is not there is refused');

select * from finish();
rollback;
