-- Taking what an iteration did costs the same after a hundred and twenty iterations as after twenty; at most a hundred come at a time.
begin;
select plan(5);

select agent('{"tools": ["look"], "ledger_nudge_interval": 0, "stall_limit": 0, "max_turns": 1000}');
select submit('A long task');
create function pg_temp.iterations(p_n integer) returns void language sql as $$
  select play('[[["look"], ["note", "Seen"]]]'), later('1 second') from generate_series(1, p_n) $$;
create function pg_temp.take() returns text language plpgsql as $$
declare
  v_took json := trace_take(focus());
begin
  perform trace_record(focus(), (v_took ->> 'iteration')::integer, (v_took ->> 'is_done')::boolean);
  return concat_ws(' ', v_took ->> 'kind', v_took ->> 'iteration');
end
$$;
create function pg_temp.rows_read() returns bigint language sql as $$
  select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::bigint from pg_stat_xact_user_tables where schemaname = (select relnamespace::regnamespace::text from pg_class where oid = 'turns'::regclass) $$;
create function pg_temp.cost() returns bigint language plpgsql as $$
declare
  v_before bigint := pg_temp.rows_read();
begin
  perform pg_temp.take();
  return pg_temp.rows_read() - v_before;
end
$$;

select pg_temp.iterations(20), pg_temp.take();
analyze; -- the plans are those of tables with rows, whatever was last seen of them
select pg_temp.iterations(1);
create temporary table cost as select pg_temp.cost() as early;
select pg_temp.iterations(101);
select is(pg_temp.take(), 'spans 121', 'a hundred iterations at a time');
select is(pg_temp.take(), 'spans 122', 'then the rest');
select pg_temp.iterations(1);
select cmp_ok((select early from cost), '>', 0::bigint, 'rows are read');
select cmp_ok(pg_temp.cost(), '<=', (select early + 5 from cost), 'no more for an iteration late than for one early');
select is((select count(*) from work_trace(item()) where name = 'work.engage.iteration'), 123::bigint, 'the whole trace has them all');

select * from finish();
rollback;
