-- An artifact is read by a range of lines or of characters.
begin;
select plan(9);

create temporary table stored as
  select left(_artifact_store(null, (select string_agg('line ' || n || case when n = 7 then ' needle ' || repeat('x', 2000) else '' end, E'\n' order by n) from generate_series(1, 5000) n)), 16) as handle;
create function pg_temp.read(p_range text, p_pattern text default null) returns text language sql as
  $$ select artifact_read((select handle from stored), p_range, p_pattern) $$;

select is(pg_temp.read('3-5'), E'line 3\nline 4\nline 5', 'a range of lines is read');
select is(pg_temp.read('4'), 'line 4', 'one line is read');
select is(pg_temp.read('c1-6'), 'line 1', 'a range of characters is read');
select is(pg_temp.read('4999-7000'), E'line 4999\nline 5000', 'a range may go beyond the end');
select is(pg_temp.read('6000-7000'), '(it has only 5000 lines)', 'a range that begins beyond the last line is told');
select is(pg_temp.read('c999999-1000000'), '(it has fewer than 999999 characters)', 'a range that begins beyond the last character is told');
select ok(char_length(pg_temp.read(null)) < 66000, 'without a range all of it is read, up to a cap');
select throws_ok($$ select pg_temp.read('5-3') $$, 'WL002', null, 'a range that goes backwards is refused');
select throws_ok($$ select pg_temp.read('all; drop') $$, 'WL002', null, 'what is no range is refused');

select * from finish();
rollback;
