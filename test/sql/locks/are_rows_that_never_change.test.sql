-- What functions lock is there from the start, for each purpose that they name, and stays.
begin;
select plan(5);

select results_eq(
  $$ select purpose, count(*) from locks group by purpose order by purpose $$,
  $$ values ('abilities', 1::bigint), ('branches', 64), ('checkpoints', 64), ('claims', 64), ('conversations', 64), ('days', 64), ('faculties', 1), ('hint', 1), ('memory', 64), ('projects', 1), ('renames', 64), ('retention', 1), ('roles', 1), ('slots', 64), ('spawns', 64), ('sweep', 1), ('trees', 64), ('waits', 1) $$,
  'each purpose has one row, or 64');
select is_empty(
  $$ select p.proname, m[2] from pg_proc p cross join lateral regexp_matches(p.prosrc, '\m(_lock|_lock_shared|_lock_all|_lock_try)\(''(\w+)''(,)?', 'g') m
      where p.pronamespace = (select relnamespace from pg_class where oid = 'locks'::regclass)
        and (select count(*) from locks l where l.purpose = m[2]) is distinct from case when m[3] is null then 1 else 64 end $$,
  'whatever functions lock is there');
select throws_ok('delete from locks', 'WL007', null, 'no row is ever removed');
select throws_ok('truncate locks', 'WL007', null, 'they are not removed together');
select lives_ok($$ select _lock('slots', 'n' || n), _lock_try('checkpoints', n::text) from generate_series(1, 1000) n $$, 'every key has its place');

select * from finish();
rollback;
