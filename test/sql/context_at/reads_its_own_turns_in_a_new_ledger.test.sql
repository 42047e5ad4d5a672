-- A request is made of its own turns alone, also in a ledger that is so new that nothing is known of its size.
begin;
select plan(2);

-- Nothing is known of it, whatever autovacuum has found in these tables before, and it finds nothing out meanwhile: rows of a transaction
-- that is open count for nothing there, and a table that was seen with pages and without rows is read from end to end.
do $do$
declare
  v_table regclass;
begin
  for v_table in select oid from pg_class where relnamespace = _ledger_schema()::regnamespace and relkind = 'r' loop
    execute format('lock table %s in share update exclusive mode', v_table);
    update pg_class set relpages = 0, reltuples = -1 where oid = v_table or oid in (select indexrelid from pg_index where indrelid = v_table);
    delete from pg_statistic where starelid = v_table;
  end loop;
end
$do$;

select agent('{"tools": ["look"], "ledger_nudge_interval": 0, "stall_limit": 0, "max_turns": 1000}');
create temporary table items as select submit('Alone') as id;
create function pg_temp.calls_read() returns bigint language sql as $$
  select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::bigint from pg_stat_xact_user_tables where relid = 'tool_calls'::regclass $$;
create function pg_temp.cost(p_turn uuid) returns bigint language plpgsql as $$
declare
  v_before bigint := pg_temp.calls_read();
begin
  perform context_at(p_turn);
  return pg_temp.calls_read() - v_before;
end
$$;

select play('[[["look"]]]') from generate_series(1, 20);
create temporary table cost as select t.id as turn, pg_temp.cost(t.id) as alone from turns t order by id desc limit 1;
select submit('Beside it');
select play('[[["look"]]]') from generate_series(1, 200);
select cmp_ok((select alone from cost), '>', 0::bigint, 'calls are read');
select is((select pg_temp.cost(turn) from cost), (select alone from cost), 'no more beside two hundred calls of others');

select * from finish();
rollback;
