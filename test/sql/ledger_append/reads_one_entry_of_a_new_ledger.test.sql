-- An append looks only at the entry before it, also in a ledger that is so new that nothing is known of its size.
begin;
select plan(1);

select submit();
select count(ledger_append(item(), 'note', format('Note %s', n))) from generate_series(1, 300) n;
select cmp_ok((select idx_tup_fetch + seq_tup_read from pg_stat_xact_user_tables where relid = 'work_ledger'::regclass), '<', 1000::bigint,
  'so the last of 300 reads no more than the first');

select * from finish();
rollback;
