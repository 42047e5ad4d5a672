-- work_ledger_doctor() says what slows work: tables that are left alone, indexes that are gone, workers that nobody reaches.
begin;
select plan(7);

create function pg_temp.of(p_code text) returns text language sql as $$
  select string_agg(format('%s: %s', severity, says), '; ' order by says) from work_ledger_doctor() where code = p_code $$;

select is(pg_temp.of('vacuum'), 'fine: deleted and updated rows are cleaned up', 'autovacuum does its work');
alter table turns set (autovacuum_enabled = false);
select is(pg_temp.of('vacuum'), 'warning: autovacuum is disabled for table turns', 'a table that is left alone');

select is(pg_temp.of('indexes'), 'fine: every index exists and is usable', 'nothing is missing');
drop index work_items_runnable;
update pg_index set indisvalid = false where indexrelid = 'turns_parent'::regclass;
select is(pg_temp.of('indexes'), 'error: index turns_parent is not usable; error: index work_items_runnable is missing', 'an index that is gone, and one whose making broke off');
select is((select remedy from work_ledger_doctor() where says like 'index turns_parent%'), format('reindex index %s;', 'turns_parent'::regclass), 'and what to do about it');

select is(pg_temp.of('listener'), 'fine: workers are notified at once', 'without workers nobody has to listen');
select lease_renew('w', '{}', '{}', 'here', 7, null, 4);
select is(pg_temp.of('listener'), 'warning: 1 worker is alive, but none listens: cancellations and messages are noticed only by polling', 'a worker whose listener does not reach the server');

select * from finish();
rollback;
