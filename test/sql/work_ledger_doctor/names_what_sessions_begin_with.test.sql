-- work_ledger_doctor() says what sessions begin with that hurts, of the database and of the roles of workers, and what undoes it.
begin;
select plan(12);

create function pg_temp.of(p_code text) returns text language sql as $$
  select string_agg(format('%s: %s', severity, says), '; ' order by says) from work_ledger_doctor() where code = p_code $$;
create function pg_temp.remedy(p_says text) returns text language sql as $$ select remedy from work_ledger_doctor() where says like p_says $$;
create function pg_temp.begin_with(p_of text, p_setting text) returns void language plpgsql as $$
begin
  execute format('alter %s set %s', p_of, p_setting);
end $$;
create function pg_temp.database() returns text language sql as $$ select format('database %I', current_database()) $$;

select is(pg_temp.of('isolation'), 'fine: a statement that waited for a lock sees what was committed in the meantime', 'read committed is what it is made for');
select is(pg_temp.of('sessions'), 'fine: sessions start with settings that the ledger''s functions can work with', 'and nothing else hurts');

select pg_temp.begin_with(pg_temp.database(), $$default_transaction_isolation = 'repeatable read'$$);
select ok(pg_temp.of('isolation') like 'warning: default_transaction_isolation is repeatable read: %', 'another isolation');
select is(pg_temp.remedy('default_transaction_isolation is%'), format('alter %s reset default_transaction_isolation;', pg_temp.database()), 'and what undoes it');

select pg_temp.begin_with(pg_temp.database(), 'standard_conforming_strings = off');
select ok(pg_temp.of('sessions') like 'error: standard_conforming_strings is off: %', 'strings that are read otherwise');
select pg_temp.begin_with(pg_temp.database(), 'standard_conforming_strings = on');
select pg_temp.begin_with(pg_temp.database(), 'session_replication_role = replica');
select ok(pg_temp.of('sessions') like 'error: session_replication_role is replica: %', 'triggers that do nothing');
select pg_temp.begin_with(pg_temp.database(), 'session_replication_role = origin');
select pg_temp.begin_with(pg_temp.database(), $$statement_timeout = '2min'$$);
select ok(pg_temp.of('sessions') like 'fine: %', 'a limit of minutes');
select pg_temp.begin_with(pg_temp.database(), $$lock_timeout = '50'$$);
select ok(pg_temp.of('sessions') like 'warning: lock_timeout is 50: %', 'one of milliseconds');

select pg_temp.begin_with(pg_temp.database(), $$lock_timeout = '0'$$);
select pg_temp.begin_with(pg_temp.database(), 'row_security = off');
select ok(pg_temp.of('sessions') like 'error: row_security is off: %', 'row-level security that refuses is named');

create role careless;
select pg_temp.begin_with('role careless', 'synchronous_commit = off');
select ok(pg_temp.of('durability') not like '%synchronous_commit is off for role%', 'a role that no worker has');
select lease_renew('w', '{}', '{}');
update workers set role = 'careless';
select ok(pg_temp.of('durability') like '%error: synchronous_commit is off for role careless: committed data may be lost in a crash%', 'the role of a worker');
select is(pg_temp.remedy('synchronous_commit is off for role%'), 'alter role careless reset synchronous_commit;', 'and what undoes it');

select * from finish();
rollback;
