-- A procedure or an aggregate that a user keeps in the ledger's schema is no obstacle: it belongs to the ledger's owner then, as all else there.
begin;
select plan(2);

create procedure of_a_user() language sql as 'select 1';
create aggregate all_of(jsonb) (sfunc = jsonb_concat, stype = jsonb);
create temporary table made as select * from work_roles_create(format('t%s_', pg_backend_pid()));
select is((select count(*) from pg_proc p join made m on m.kind = 'owner' and p.proowner = m.role::regrole
            where p.oid in (to_regprocedure('of_a_user()'), to_regprocedure('all_of(jsonb)'))), 2::bigint, 'both belong to the owner');
select is((select count(*) from work_roles_drop()), 9::bigint, 'and are given back with the rest');

select * from finish();
rollback;
