-- What a login brings along to be run by somebody else: in a schema of its own, and in its temporary one, something of every name that a
-- function of the ledger could mean: relations, functions, operators, types. Each says as whom it runs. Run as that login, which may
-- create schemas; the temporary part (hostile.temporary()) in each of its sessions.

create schema hostile;
grant usage on schema hostile to public;

-- As a warning, which no transaction takes back.
create function hostile.ran(p_what text) returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  raise warning 'ran % as %', p_what, current_user;
  return true;
end
$$;

create function hostile.on_write() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform hostile.ran('a write to ' || tg_table_name);
  return null;
end
$$;

-- The words of all functions of the ledger.
create function hostile.words() returns setof name language sql set search_path = pg_catalog, pg_temp as $$
  select distinct m[1]::name
    from pg_proc p, regexp_matches(lower(coalesce(p.prosrc, '') || coalesce(pg_get_function_sqlbody(p.oid), '')), '[a-z_][a-z0-9_]*', 'g') m
   where p.pronamespace = 'ledger'::regnamespace
$$;

-- Relations: a view of the same columns that says so when it is read (no plan can do without) or written; types: a domain that says so when it is cast to.
create function hostile.relations(p_schema text) returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_one record;
begin
  for v_one in
    select c.oid::regclass as name, c.relname from pg_class c
     where c.relkind in ('r', 'v')
       and (c.relnamespace = 'ledger'::regnamespace or c.oid = 'public.customers'::regclass
            or c.relnamespace = 'pg_catalog'::regnamespace and c.relname in (select * from hostile.words()))
  loop
    execute format('create view %s.%I as select %s from (select hostile.ran(%L) as it_did offset 0) r', p_schema, v_one.relname,
      (select string_agg(format('case when it_did then null::%s end as %I', format_type(a.atttypid, a.atttypmod), a.attname), ', ' order by a.attnum)
         from pg_attribute a where a.attrelid = v_one.name and a.attnum > 0 and not a.attisdropped),
      'view ' || v_one.relname);
    execute format('create trigger on_write instead of insert or update or delete on %s.%I for each row execute function hostile.on_write()',
                   p_schema, v_one.relname);
    execute format('grant all on %s.%I to public', p_schema, v_one.relname);
  end loop;
  for v_one in
    select t.typname from pg_type t
     where t.typnamespace = 'pg_catalog'::regnamespace and t.typname = any ('{text,uuid,json,jsonb,bytea,timestamptz,name,int4,int8,bool,
       regclass,regproc,regprocedure,regnamespace,regrole}')
  loop
    execute format('create domain %s.%I as pg_catalog.%I check (hostile.ran(%L))', p_schema, v_one.typname, v_one.typname, 'type ' || v_one.typname);
  end loop;
end
$$;

-- Functions and operators with the arguments of those that the ledger calls.
create function hostile.functions() returns integer language plpgsql set search_path = pg_catalog, pg_temp set check_function_bodies = off as $$
declare
  v_one record;
  v_count integer := 0;
begin
  for v_one in
    select p.proname, pg_get_function_identity_arguments(p.oid) as arguments, pg_get_function_result(p.oid) as result, p.proretset, p.prorettype
      from pg_proc p
     where p.pronamespace in ('pg_catalog'::regnamespace, 'ledger'::regnamespace) and p.prokind in ('f', 'a') and p.proname in (select * from hostile.words())
       and not p.proargtypes::oid[] && '{internal,"\"any\"",cstring}'::regtype[]::oid[]
       and p.prorettype <> all ('{internal,cstring,trigger,event_trigger}'::regtype[])
  loop
    begin
      execute format('create function hostile.%I(%s) returns %s language plpgsql as $f$ begin perform hostile.ran(%L); return%s; end $f$',
        v_one.proname, v_one.arguments, v_one.result, 'function ' || v_one.proname,
        case when v_one.proretset or v_one.prorettype = 'void'::regtype then '' else ' null' end);
      v_count := v_count + 1;
    exception when others then
      null; -- polymorphic in a way that a function of ours cannot be
    end;
  end loop;
  for v_one in
    select o.oid, o.oprname, format_type(o.oprleft, null) as l, format_type(o.oprright, null) as r, format_type(o.oprresult, null) as result
      from pg_operator o
     where o.oprnamespace = 'pg_catalog'::regnamespace and o.oprkind = 'b'
       and array[o.oprleft, o.oprright] <@ '{uuid,text,name,integer,bigint,boolean,json,jsonb,bytea,numeric,timestamptz,interval,oid,regclass,"char",
         text[],uuid[],anyarray,anyelement,anycompatiblearray,anynonarray,record,double precision,xid}'::regtype[]::oid[]
  loop
    begin
      execute format('create function hostile.operator_%s(%s, %s) returns %s language plpgsql as $f$ begin perform hostile.ran(%L); return null; end $f$',
        v_one.oid, v_one.l, v_one.r, v_one.result, 'operator ' || v_one.oprname);
      execute format('create operator hostile.%s (leftarg = %s, rightarg = %s, function = hostile.operator_%s)',
        v_one.oprname, v_one.l, v_one.r, v_one.oid);
      v_count := v_count + 1;
    exception when others then
      null;
    end;
  end loop;
  return v_count;
end
$$;

create function hostile.temporary() returns void language sql as $$ select hostile.relations('pg_temp') $$;
