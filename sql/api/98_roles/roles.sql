-- Database roles: only the ledger's owner writes to its tables, and everybody else calls functions that run as the owner.

create or replace function _role_kinds()
  returns table (kind text, inherits text[], says text)
  language sql
  immutable
  parallel safe
  rows 9
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  values
    ('owner', '{tools}'::text[], 'Owns tables and functions; only for installing new versions.'),
    ('reader', '{}', 'Reads everything and writes nothing.'),
    ('client', '{reader}', 'Submits work, and writes to what it submitted.'),
    ('agent', '{}', 'Reads and writes the work whose lease it holds, and nothing else.'),
    ('approver', '{reader}', 'Decides on calls that wait for approval.'),
    ('worker', '{client}', 'Runs work: for worker processes.'),
    ('admin', '{client,approver}', 'Configures, and writes to all work.'),
    ('tools', '{agent}', 'Runs users'' SQL functions that are tools; nobody logs in as it.'),
    ('console', '{admin}', 'Does what an administrator does, in the name of people it vouches for: for consoles.');
$$;

comment on function _role_kinds() is 'What kinds of roles there are. inherits: those whose privileges a role has besides its own.';

create or replace function work_roles_create(p_prefix text default null)
  returns table (kind text, role name)
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
declare
  v_prefix text := coalesce(p_prefix, _ledger_schema() || '_');
begin
  if v_prefix !~ '^[a-z_][a-z0-9_]{0,49}$' then
    perform _raise_invalid(format('names of roles cannot begin with "%s"', v_prefix), 'Use lower-case letters, digits and _, at most 50 characters.');
  elsif exists (select from ledger_roles r where r.role <> v_prefix || r.kind) then
    perform _raise_invalid(format('this ledger''s roles begin with "%s"', (select left(r.role, -length(r.kind)) from ledger_roles r limit 1)),
      'work_roles_drop() drops them.');
  end if;
  perform _roles_make(v_prefix), _roles_apply();
  return query select r.kind, r.role from _role_kinds() k join ledger_roles r using (kind);
end
$$;

comment on function work_roles_create(text) is
  'Makes the database roles of this ledger, PREFIXowner, PREFIXreader, PREFIXclient, PREFIXagent, PREFIXapprover, PREFIXworker, PREFIXadmin, PREFIXtools and PREFIXconsole, and grants each what its kind may do; returns them. p_prefix: default: the ledger''s schema and _. They cannot log in: grant them to roles that can. Tables and functions belong to PREFIXowner from now on; privileges that others have on tables are revoked; functions that write run with the owner''s privileges, SQL functions of users that are tools as PREFIXtools. A role of that name that exists is used. Calling it again repairs what is missing. It takes a role that owns the ledger and may create roles; superuser is not needed. It locks every table for a moment. Raises WL002, 42501, 40P01 (work is under way: call it again).';

create or replace function _roles_make(p_prefix text)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_kind text;
  v_role name;
begin
  perform _lock('roles');
  for v_kind in select k.kind from _role_kinds() k loop
    v_role := p_prefix || v_kind;
    if not exists (select from pg_roles where rolname = v_role) then
      execute format('create role %I nologin', v_role);
    elsif (select rolsuper or rolbypassrls from pg_roles where rolname = v_role) then
      perform _raise_invalid(format('role %I is a superuser or bypasses row-level security', v_role), 'A role of a ledger must not be or do that.');
    end if;
    insert into ledger_roles (kind, role) values (v_kind, v_role) on conflict do nothing;
  end loop;
  perform _role_join(p_prefix || 'owner'), _role_join(p_prefix || 'tools');
end
$$;

comment on function _roles_make(text) is 'Makes the roles of each kind that are missing. Raises WL002, 42501.';

create or replace function work_roles_drop()
  returns setof name
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_roles name[] := array(select role from ledger_roles where _role(kind) is not null order by kind);
  v_role name;
begin
  perform _role_join(r) from unnest(v_roles) r;
  perform _roles_own(current_user), _roles_definer(false);
  delete from ledger_roles;
  foreach v_role in array v_roles loop
    perform _role_join(v_role); -- membership may have come through a role that is gone now
    execute format('drop owned by %I', v_role);
    begin
      execute format('drop role %I', v_role);
      return next v_role;
    exception when dependent_objects_still_exist then
      raise notice 'role % stays: it has privileges in another database', v_role;
    end;
  end loop;
end
$$;

comment on function work_roles_drop() is
  'Takes back what work_roles_create() did, and returns the roles that it dropped: tables and functions belong to the role that calls it, and nobody else can use the ledger. A role that has privileges in other databases stays, with a notice. Raises 42501.';

create or replace function _role_join(p_role name)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if not pg_has_role(p_role, 'usage') then
    execute format('grant %I to %I', p_role, current_user);
  end if;
end
$$;

comment on function _role_join(name) is 'Makes the caller a member of a role: nobody else may change or drop what it owns.';
