-- An artifact is searched by a regular expression, within a range or whole; its handle has to be one.
begin;
select plan(7);

create temporary table stored as
  select left(_artifact_store(null, (select string_agg('line ' || n || case when n = 7 then ' needle ' || repeat('x', 2000) else '' end, E'\n' order by n) from generate_series(1, 5000) n)), 16) as handle;
create function pg_temp.read(p_range text, p_pattern text default null) returns text language sql as
  $$ select artifact_read((select handle from stored), p_range, p_pattern) $$;

select is(pg_temp.read(null, '^LINE 49[0-2]$'), E'490: line 490\n491: line 491\n492: line 492', 'lines that match are read, numbered, in any case');
select is(pg_temp.read('491-600', '^line 49[0-2]$'), E'491: line 491\n492: line 492', 'a pattern is looked for within a range');
select matches(pg_temp.read(null, 'needle'), '^7: line 7 needle x{190}x+…$', 'of a long line what is around the match is read');
select is(pg_temp.read(null, 'nowhere'), '(no line matches "nowhere")', 'a pattern that matches nothing is told');
select throws_ok($$ select pg_temp.read(null, '(') $$, 'WL002', null, 'a pattern that is no regular expression is refused');
select throws_ok($$ select artifact_read('nonsense') $$, 'WL002', null, 'a handle that is none is refused');
select throws_ok($$ select artifact_read('0123456789abcdef') $$, 'WL001', 'there is no artifact 0123456789abcdef', 'a handle of no artifact is an error');

select * from finish();
rollback;
