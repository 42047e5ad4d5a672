-- An append looks only at the entry before it, also in a ledger that is so new that nothing is known of its size.
begin;
select plan(2);

select submit();
-- What the session did before stands in these numbers, too, until it is flushed.
create function pg_temp.entries_read() returns bigint language sql as $$
  select idx_tup_fetch + seq_tup_read from pg_stat_xact_user_tables where relid = 'work_ledger'::regclass $$;

create temporary table before as select pg_temp.entries_read();
select count(ledger_append(item(), 'note', format('Note %s', n))) from generate_series(1, 300) n;
select cmp_ok(pg_temp.entries_read() - (select entries_read from before), '<', 1000::bigint,
  'so the last of 300 reads no more than the first');

truncate before;
insert into before select pg_temp.entries_read();
select count(*) from ledger_append_batch(item(), (select jsonb_agg(jsonb_build_object('entry_type', 'note', 'content', 'Note')) from generate_series(1, 300)));
select cmp_ok(pg_temp.entries_read() - (select entries_read from before), '<', 1000::bigint, 'nor does the last of a batch');

select * from finish();
rollback;
