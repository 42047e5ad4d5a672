-- Whoever takes over a worker has its privileges: a superuser's are the whole server.
begin;
select plan(3);

create function pg_temp.found() returns setof text language sql as $$ select says from work_ledger_doctor() where code = 'roles' and severity = 'warning' order by 1 $$;
select lease_renew('w1', '{}', '{}');
select results_eq('select pg_temp.found()', $$
  select format('worker w1 is logged in as %s, a superuser of %s more database%s', session_user::text collate "default", count(*), case when count(*) > 1 then 's' end)
    from pg_database where not datistemplate and datname not in (current_database(), 'postgres') having count(*) > 0 $$,
  'a superuser, where there is more than the ledger');
create role too_much;
create schema payroll authorization too_much;
update workers set role = 'too_much';
select results_eq('select pg_temp.found()', array['worker w1 is logged in as too_much, which also owns payroll'], 'the owner of something else');
alter schema payroll owner to current_user;
select is_empty('select pg_temp.found()', 'nothing is said of a role that has the ledger alone');

select * from finish();
rollback;
