-- Users' SQL functions that implement abilities: which functions qualify, how they resolve names, and what they lack to run.

create or replace function _ability_function(p_function regprocedure)
  returns text
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_function text;
begin
  select format('%I.%I', n.nspname, p.proname)
    into v_function
    from pg_proc p
    join pg_namespace n on n.oid = p.pronamespace
   where p.oid = p_function and p.pronargs = 1 and p.proargtypes[0] = 'jsonb'::regtype and not p.proretset
     and p.prokind in ('f', 'a');
  if p_function is not null and v_function is null then
    perform _raise_invalid(format('%s cannot implement an ability', p_function),
      'It must take one jsonb argument (the input) and return one value.');
  end if;
  if not (select _is_owners() or p.proowner = c.relowner
            from pg_class c, pg_proc p where c.oid = 'abilities'::regclass and p.oid = p_function) then
    raise exception using
      errcode = 'insufficient_privilege',
      message = format('%s does not belong to the ledger''s owner', p_function),
      hint = 'It would run with what was granted to this ledger''s tools: only the owner may register functions of others.';
  end if;
  return v_function;
end
$$;

comment on function _ability_function(regprocedure) is 'The name by which a function that implements an ability is called; null for none. Raises WL002 for one that cannot, 42501 for one that does not belong to the ledger''s owner, unless that one registers it.';

create or replace function _is_owners()
  returns boolean
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select pg_has_role(session_user, relowner, 'usage') from pg_class where oid = 'abilities'::regclass;
$$;

comment on function _is_owners() is 'Whether whoever is logged in has the privileges of the ledger''s owner.';

create or replace function _ability_path(p_schemas name[])
  returns name[]
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  -- A role that may create objects in a schema of the path decides what an unqualified name means there.
  select coalesce(array_agg(n.nspname order by s.n), '{}')
    from unnest(p_schemas) with ordinality as s(name, n)
    join pg_namespace n on n.nspname = s.name
   where n.nspname !~ '^pg_(toast_)?temp' and (_is_owners() or not has_schema_privilege(session_user, n.oid, 'create'));
$$;

comment on function _ability_path(name[]) is 'abilities.search_path of a function that is being registered: those of the schemas that exist and are not temporary; for others than the owner, those in which they can create nothing.';

create or replace function _tool_path(p_schemas name[])
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select string_agg(quote_ident(s.name), ', ' order by s.n)
    from unnest(p_schemas || array[_ledger_schema(), 'pg_temp']::name[]) with ordinality as s(name, n);
$$;

comment on function _tool_path(name[]) is 'The search_path under which a user''s function runs: its own schemas, the ledger''s, and last the temporary one, in which a caller''s tables would otherwise come first.';

create or replace function _ability_tell(p_function regprocedure)
  returns void
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_role name := _role('tools');
  v_found record;
begin
  if p_function is null or v_role is null then
    return;
  end if;
  if _is_owners() then
    raise notice 'the tool runs as role %, not with your rights', v_role using hint = format('Grant %I what %s needs, and no more.', v_role, p_function);
  end if;
  for v_found in select * from _ability_doubts(p_function) loop
    raise notice '%', v_found.says using hint = v_found.remedy;
  end loop;
end
$$;

comment on function _ability_tell(regprocedure) is 'Tells whoever registers a function, in a ledger with roles, as whom it runs and what is wrong with that.';

create or replace function _ability_doubts(p_function regprocedure)
  returns table (says text, remedy text)
  language sql
  stable
  rows 2
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with f as (
    select p.oid, p.oid::regprocedure as call, n.oid as schema, n.nspname, p.prosecdef, o.rolname, o.rolsuper, t.role as tools,
           p.proowner = (select relowner from pg_class where oid = 'abilities'::regclass) as is_owners
      from pg_proc p
      join pg_namespace n on n.oid = p.pronamespace
      join pg_roles o on o.oid = p.proowner
      join ledger_roles t on t.role = _role('tools')
     where p.oid = p_function
  )
  select format('role %I may not run %s: calls to the tool fail', tools, call),
         concat_ws(' ', case when not has_schema_privilege(tools, schema, 'usage') then format('grant usage on schema %I to %I;', nspname, tools) end,
           case when not has_function_privilege(tools, oid, 'execute') then format('grant execute on function %s to %I;', call, tools) end)
    from f
   where not (has_schema_privilege(tools, schema, 'usage') and has_function_privilege(tools, oid, 'execute'))
  union all
  select format('%s is security definer and belongs to %I, %s: anyone who calls the tool acts with those rights', call, rolname,
           case when rolsuper then 'a superuser' else 'the ledger''s owner' end),
         format('Give it to a role that has only the privileges it needs: alter function %s owner to ROLE;', call)
    from f
   where prosecdef and (rolsuper or is_owners);
$$;

comment on function _ability_doubts(regprocedure) is 'What is wrong with the rights of a function that implements an ability, in a ledger with roles, and what to do; no row: nothing.';
