-- A database or a role may have fewer connections than the server: whoever looks at the server alone finds enough, and the worker waits for ever.
begin;
select plan(7);
set local work_ledger.now = '2026-01-01 12:00Z';

create function pg_temp.of(p_what text) returns text language sql as $$
  select string_agg(regexp_replace(case p_what when 'says' then says else remedy end, '^-?\d+ connections? (is|are) ', 'n are '), '; ' order by says)
    from work_ledger_doctor() where code = 'connections' $$;
create function pg_temp.limits(p_limit integer) returns void language plpgsql as $$ begin
  execute format('alter database %I connection limit %s', current_database(), p_limit);
end $$;

create role "nar'row" login connection limit 3;
select is(pg_temp.of('says'), 'there are free connections', 'the limit of a role that does no work');
select lease_renew('w', '{}', '{}', 'here', 7);
update workers set role = 'nar''row';
select is((select says from work_ledger_doctor() where code = 'connections'), '3 connections are left of 3 of role nar''row; a worker opens --concurrency + 4', 'that of a worker');
select is(pg_temp.of('remedy'), 'alter role "nar''row" connection limit -1, or run fewer workers.', 'and what to do');
alter role "nar'row" connection limit 100;
select is(pg_temp.of('says'), 'there are free connections', 'one that is enough');
select pg_temp.limits(4);
select is(pg_temp.of('says'), 'n are left of 4 of this database; a worker opens --concurrency + 4', 'that of the database');
select is(pg_temp.of('remedy'), format('alter database %I connection limit -1, or run fewer workers.', current_database()), 'and what to do');
alter role "nar'row" superuser;
select is(pg_temp.of('says'), 'there are free connections', 'superusers have no such limit');

select * from finish();
rollback;
