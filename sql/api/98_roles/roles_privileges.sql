-- Privileges of the roles: they may read, and call functions that write as the owner; nobody else may do anything. This is the last file: at its end it
-- revokes public access to all functions.

create or replace function _roles_apply()
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_schema name := _ledger_schema();
  v_call record;
begin
  if not exists (select from ledger_roles) then
    return;
  end if;
  perform _roles_complete();
  execute format('grant usage, create on schema %I to %I', v_schema, _role('owner'));
  perform _roles_apply_queue(_role('owner')), _roles_apply_queue(_role('worker'));
  perform _roles_own(_role('owner')), _roles_revoke(), _roles_definer(true);
  for v_call in
    select format('grant usage on schema %I to %I', v_schema, r.role) as grants from ledger_roles r where r.kind <> 'owner'
    union all
    select format('grant select on all tables in schema %I to %I', v_schema, _role('reader'))
    union all
    select format('revoke all on people from %I', _role('reader'))
    union all
    select format('grant %I to %I', _role(i.inherits), _role(k.kind)) from _role_kinds() k cross join lateral unnest(k.inherits) as i(inherits)
     -- Kinds added by a later version exist once work_roles_create() is called again.
     where _role(k.kind) is not null and _role(i.inherits) is not null
    union all
    select format('grant execute on function %s to %s', p.oid::regprocedure, (select string_agg(quote_ident(_role(k)), ', ') from unnest(g.kinds) k))
      from pg_proc p
      join _granted_functions() g on g.oid = p.oid
     where exists (select from ledger_roles r where r.kind = any (g.kinds))
  loop
    execute v_call.grants;
  end loop;
  perform _roles_tools();
end
$$;

comment on function _roles_apply() is 'Gives each role of this ledger what its kind may do, and nobody else anything. It does nothing where there are no roles. Runs again at each change of the functions.';

create or replace function _roles_complete()
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if exists (select from _role_kinds() k where _role(k.kind) is null) then
    perform _roles_make((select left(r.role, -length(r.kind)) from ledger_roles r limit 1));
  end if;
exception when insufficient_privilege then
  if exists (select from ledger_roles r where _role(r.kind) is null) then
    raise exception using
      errcode = 'insufficient_privilege',
      message = format('roles of this ledger are not on this server (work_roles_create() makes them, as a role that may; work_roles_drop() does without): %s',
                       (select string_agg(r.role, ', ' order by r.role) from ledger_roles r where _role(r.kind) is null));
  end if;
  raise notice 'this ledger lacks roles that this version has: until they are created, no user''s SQL function runs as a tool'
    using hint = 'Call work_roles_create() as a role that may create roles.';
end
$$;

comment on function _roles_complete() is 'Makes the roles of kinds that the version before did not have, and those that a dump of another server names, where whoever installs may. Raises 42501.';

create or replace function _roles_tools()
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_tools name := _role('tools');
  v_schema name := _ledger_schema();
begin
  if v_tools is null then
    return;
  end if;
  -- The new owner of a function needs the privilege to create one, for a moment.
  execute format('grant create on schema %I to %I', v_schema, v_tools);
  execute format('alter function %s owner to %I', '_tool_run(text, text, jsonb)'::regprocedure, v_tools);
  execute format('revoke create on schema %I from %I', v_schema, v_tools);
  execute format('revoke all on function %s from public, %I', '_tool_run(text, text, jsonb)'::regprocedure, v_tools);
  execute format('grant execute on function %s to %I', '_tool_run(text, text, jsonb)'::regprocedure, _role('owner'));
end
$$;

comment on function _roles_tools() is 'Gives the function that runs users'' functions to the role of tools. The owner alone may call it.';

create or replace function _roles_apply_queue(p_role name)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_table regclass;
  v_is_there boolean;
begin
  if to_regnamespace('graphile_worker') is null then
    return;
  end if;
  execute format('grant usage on schema graphile_worker to %I', p_role);
  execute format('grant all on all tables in schema graphile_worker to %I', p_role);
  execute format('grant all on all sequences in schema graphile_worker to %I', p_role);
  execute format('grant execute on all functions in schema graphile_worker to %I', p_role);
  -- graphile-worker's tables have row-level security without a policy, so only their owner has access. A renamed role has kept the policy of its
  -- former name.
  for v_table, v_is_there in
    select c.oid, y.oid is not null
      from pg_class c
      left join pg_policy y on y.polrelid = c.oid and y.polname = p_role
     where c.relnamespace = 'graphile_worker'::regnamespace and c.relrowsecurity
       and y.polroles is distinct from array[to_regrole(quote_ident(p_role))::oid]
  loop
    execute format('%s policy %I on %s to %I using (true)', case when v_is_there then 'alter' else 'create' end, p_role, v_table, p_role);
  end loop;
end
$$;

comment on function _roles_apply_queue(name) is 'Lets a role write graphile-worker''s jobs: the owner adds them, workers run them.';

create or replace function _granted_functions()
  returns table (oid oid, kinds text[])
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select p.oid, coalesce(f.roles, case p.proname when '_works_for_all' then '{worker,admin}'::text[] when '_vouches' then '{console}' else '{reader}' end)
    from pg_proc p
    join pg_language l on l.oid = p.prolang
    left join _public_functions() f on f.name = p.proname
   where p.pronamespace = quote_ident(_ledger_schema())::regnamespace and f.roles is distinct from '{}'
     -- Functions that views and reading functions use run with the reader's privileges; JavaScript is not for readers.
     and (f.name is not null or p.provolatile <> 'v' and l.lanname in ('sql', 'plpgsql', 'internal', 'c') or p.proname in ('_now', '_works_for_all'));
$$;

comment on function _granted_functions() is 'The functions that roles may call and the kinds of roles that are granted them: public ones, and private ones that only read.';

create or replace function _roles_own(p_role name)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_alter text;
begin
  for v_alter in
    select format('alter %s %s owner to %I',
                  case c.relkind when 'v' then 'view' when 'S' then 'sequence' when 'c' then 'type' when 'f' then 'foreign table' else 'table' end,
                  c.oid::regclass, p_role)
      from pg_class c
     where c.relnamespace = quote_ident(_ledger_schema())::regnamespace and c.relkind in ('r', 'v', 'S', 'c', 'f')
       and c.relowner <> quote_ident(p_role)::regrole
       -- An identity column's sequence follows its table.
       and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'i' and c.relkind = 'S')
    union all
    select format('alter domain %s owner to %I', t.oid::regtype, p_role)
      from pg_type t
     where t.typnamespace = quote_ident(_ledger_schema())::regnamespace and t.typtype = 'd' and t.typowner <> quote_ident(p_role)::regrole
    union all
    -- Includes procedures and aggregates that users keep here.
    select format('alter routine %s owner to %I', p.oid::regprocedure, p_role)
      from pg_proc p where p.pronamespace = quote_ident(_ledger_schema())::regnamespace and p.proowner <> quote_ident(p_role)::regrole
  loop
    execute v_alter;
  end loop;
end
$$;

comment on function _roles_own(name) is 'Makes a role the owner of this ledger''s tables, links, views, types and functions.';

create or replace function _roles_definer(p_is_definer boolean)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_alter text;
begin
  for v_alter in
    select format('alter function %s security %s', p.oid::regprocedure, case when p_is_definer then 'definer' else 'invoker' end)
      from pg_proc p
     where p.pronamespace = quote_ident(_ledger_schema())::regnamespace and p.provolatile = 'v' and p.prosecdef <> p_is_definer
       and (p.proname = '_tool_run' or exists (select from _public_functions() f where f.name = p.proname and f.roles <> '{}'))
  loop
    execute v_alter;
  end loop;
end
$$;

comment on function _roles_definer(boolean) is 'Whether the public functions that write, and the one that runs users'' functions, run with their owner''s privileges or with those of the caller.';

create or replace function _roles_revoke()
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_grantee text;
begin
  for v_grantee in
    select distinct case a.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(a.grantee)) end
      from (select relacl as acl, relowner as owner from pg_class
             where relnamespace = quote_ident(_ledger_schema())::regnamespace and relkind in ('r', 'v', 'S', 'f')
            union all
            select proacl, proowner from pg_proc where pronamespace = quote_ident(_ledger_schema())::regnamespace) o
      cross join lateral aclexplode(o.acl) a
     where a.grantee <> o.owner
  loop
    execute format('revoke all on all tables in schema %I from %s cascade', _ledger_schema(), v_grantee);
    execute format('revoke all on all sequences in schema %I from %s cascade', _ledger_schema(), v_grantee);
    execute format('revoke all on all functions in schema %I from %s cascade', _ledger_schema(), v_grantee);
  end loop;
end
$$;

comment on function _roles_revoke() is 'Takes all privileges on this ledger''s tables and functions from everybody but their owner.';

create or replace function _functions_close()
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_function regprocedure;
begin
  for v_function in
    select p.oid from pg_proc p
     where p.pronamespace = quote_ident(_ledger_schema())::regnamespace and p.xmin = pg_current_xact_id()::xid
       and has_function_privilege('public', p.oid, 'execute')
  loop
    execute format('revoke execute on function %s from public', v_function);
  end loop;
end
$$;

comment on function _functions_close() is 'Closes the functions that this transaction made to everybody but their owner; PostgreSQL opens them to all. What users keep in this schema stays as it is.';

do $do$
begin
  perform _functions_close(), _code_note();
end
$do$;
