-- Debian has no package of Citus: its catalogs are made as its own scripts make them, and nothing else of it is asked.
begin;
select plan(5);
set local allow_system_table_mods = on;

create function pg_temp.says() returns text language sql as $$ select string_agg(says, '; ') from work_ledger_doctor() where code = 'postgres' and severity = 'error' $$;

select is(pg_temp.says(), null, 'without Citus there is nothing to say');
create table pg_catalog.pg_dist_partition (logicalrelid regclass not null, partmethod "char" not null, partkey text, colocationid integer default 0 not null, repmodel "char" default 'c' not null);
create table pg_catalog.pg_dist_schema (schemaid oid not null primary key, colocationid integer not null unique);
create table public.theirs (id integer);
insert into pg_dist_partition values ('public.theirs', 'h', 'id');
insert into pg_dist_schema values ('public'::regnamespace, 1);
select is(pg_temp.says(), null, 'nor where other schemas are distributed');

insert into pg_dist_partition values ('turns', 'h', 'id');
select matches(pg_temp.says(), '^schema "\w+" is distributed by Citus, which rejects queries of an iteration and leaves shards without the triggers', 'a table of the ledger');
delete from pg_dist_partition;
insert into pg_dist_schema values (quote_ident(_ledger_schema())::regnamespace, 2);
select matches(pg_temp.says(), '^schema "\w+" is distributed by Citus', 'its schema');
select is((select remedy from work_ledger_doctor() where code = 'postgres'),
  'undistribute_table() or citus_schema_undistribute(); "work-ledger move" takes a ledger to another server.', 'and what to do');

select * from finish();
rollback;
