begin;
select plan(16);

create temporary table stored as
  select left(_artifact_store((select string_agg('line ' || n || case when n = 7 then ' needle ' || repeat('x', 2000) else '' end, E'\n' order by n) from generate_series(1, 5000) n)), 16) as handle;
create function pg_temp.read(p_range text, p_pattern text default null) returns text language sql as
  $$ select artifact_read((select handle from stored), p_range, p_pattern) $$;

select is(pg_temp.read('3-5'), E'line 3\nline 4\nline 5', 'lines');
select is(pg_temp.read('4'), 'line 4', 'one line');
select is(pg_temp.read('c1-6'), 'line 1', 'characters');
select is(pg_temp.read('4999-7000'), E'line 4999\nline 5000', 'a range may go beyond the end');
select is(pg_temp.read('6000-7000'), '(it has only 5000 lines)', 'but not begin there');
select is(pg_temp.read('c999999-1000000'), '(it has fewer than 999999 characters)', 'nor with characters');
select is(pg_temp.read(null, '^LINE 49[0-2]$'), E'490: line 490\n491: line 491\n492: line 492', 'lines that match, numbered, in any case');
select is(pg_temp.read('491-600', '^line 49[0-2]$'), E'491: line 491\n492: line 492', 'within a range');
select matches(pg_temp.read(null, 'needle'), '^7: line 7 needle x{190}x+…$', 'of a long line what is around the match');
select is(pg_temp.read(null, 'nowhere'), '(no line matches "nowhere")', 'or none');
select ok(char_length(pg_temp.read(null)) < 66000, 'all of it, capped');
select throws_ok($$ select pg_temp.read('5-3') $$, 'WL002', null, 'a range goes upwards');
select throws_ok($$ select pg_temp.read('all; drop') $$, 'WL002', null, 'and is a range');
select throws_ok($$ select pg_temp.read(null, '(') $$, 'WL002', null, 'a pattern is a regular expression');
select throws_ok($$ select artifact_read('nonsense') $$, 'WL002', null, 'a handle is a handle');
select throws_ok($$ select artifact_read('0123456789abcdef') $$, 'WL001', 'there is no artifact 0123456789abcdef', 'of an artifact that is there');

select * from finish();
rollback;
