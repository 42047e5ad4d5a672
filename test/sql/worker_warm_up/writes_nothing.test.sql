-- A connection is warmed by iterations that nobody sees.
begin;
select plan(3);

create function rows_of() returns table (what text, n bigint) language plpgsql as $$
begin
  for what in
    select c.oid::regclass::text from pg_class c
     where c.relkind = 'r' and c.relnamespace in ((select relnamespace from pg_class where oid = 'work_items'::regclass), 'graphile_worker'::regnamespace)
     order by 1
  loop
    execute format('select count(*) from %s', what) into n;
    return next;
  end loop;
end
$$;

select tool('look');
create temporary table before as select * from rows_of();
select set_config('test.inserted', pg_stat_get_xact_tuples_inserted('turns'::regclass)::text, true);
select lives_ok($$ select worker_warm_up() $$, 'it can be played in any ledger');
select ok(pg_stat_get_xact_tuples_inserted('turns'::regclass) >= 2 + current_setting('test.inserted')::bigint, 'it has played iterations');
select results_eq('select * from rows_of()', 'select * from before', 'and nothing of them is there');

select * from finish();
rollback;
