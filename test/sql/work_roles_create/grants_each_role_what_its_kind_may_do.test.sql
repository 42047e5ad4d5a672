-- Who may do what: one table, and the privileges that follow from it.
begin;
select plan(15);

create temporary table made as select * from work_roles_create(format('t%s_', pg_backend_pid()));
create function pg_temp.role(p_kind text) returns name language sql as $$ select role from made where kind = p_kind $$;
create temporary table inherited as
  with recursive h(kind, from_kind) as (
    select kind, kind from _role_kinds()
    union select h.kind, i from h join _role_kinds() k on k.kind = h.from_kind cross join unnest(k.inherits) i)
  select * from h;

select set_eq('select kind from made', array['owner', 'reader', 'client', 'agent', 'approver', 'worker', 'admin', 'tools', 'console'], 'there is a role of each kind');
select is_empty(
  $$ select m.kind, p.oid::regprocedure
       from made m cross join pg_proc p join _public_functions() f on f.name = p.proname
      where p.pronamespace = _ledger_schema()::regnamespace and m.kind <> 'owner'
        and has_function_privilege(m.role, p.oid, 'execute') <> exists (select from inherited i where i.kind = m.kind and i.from_kind = any (f.roles)) $$,
  'a role may call the public functions of its kind and of those that it inherits from, and no others');
select is_empty(
  $$ select m.kind, p.oid::regprocedure from made m cross join pg_proc p
      where p.pronamespace = _ledger_schema()::regnamespace and m.kind <> 'owner' and p.proname ~ '^_' and p.provolatile = 'v'
        and p.proname not in ('_now', '_works_for_all') and has_function_privilege(m.role, p.oid, 'execute') $$,
  'no role may call a private function that writes');
select is_empty(
  $$ select oid::regprocedure from pg_proc where pronamespace = _ledger_schema()::regnamespace and has_function_privilege('public', oid, 'execute') $$,
  'no function is open to everybody');
select is_empty(
  $$ select m.kind, c.oid::regclass from made m cross join pg_class c
      where c.relnamespace = _ledger_schema()::regnamespace and c.relkind in ('r', 'v') and m.kind <> 'owner'
        and has_table_privilege(m.role, c.oid, 'insert, update, delete, truncate, references, trigger') $$,
  'nobody but the owner may write a table');
select is_empty(
  $$ select m.kind, c.oid::regclass from made m cross join pg_class c
      where c.relnamespace = _ledger_schema()::regnamespace and c.relkind in ('r', 'v') and m.kind <> 'owner'
        and has_table_privilege(m.role, c.oid, 'select') = (m.kind in ('agent', 'tools') or c.relname = 'people') $$,
  'everybody reads but agents and their tools, and nobody reads the hashes of tokens');
select is_empty(
  $$ select oid::regclass::text from pg_class where relnamespace = _ledger_schema()::regnamespace and relkind in ('r', 'v', 'S', 'c') and relowner <> pg_temp.role('owner')::regrole
     union all select oid::regprocedure::text from pg_proc where pronamespace = _ledger_schema()::regnamespace and proname <> '_tool_run' and proowner <> pg_temp.role('owner')::regrole $$,
  'everything belongs to the owner, but what runs tools of users');
select results_eq(
  $$ select p.proowner::regrole, p.prosecdef, array_agg(a.grantee::regrole order by a.grantee) filter (where a.grantee <> p.proowner)
       from pg_proc p cross join aclexplode(p.proacl) a where p.oid = '_tool_run(text, text, jsonb)'::regprocedure group by p.oid $$,
  $$ select pg_temp.role('tools')::regrole, true, array[pg_temp.role('owner')::regrole] $$,
  'that runs as the role of tools, and the owner alone calls it');
select is(has_schema_privilege(pg_temp.role('tools'), _ledger_schema(), 'create'), false, 'tools create nothing in the ledger''s schema');
select is((select rolcanlogin or rolsuper or rolinherit is null from pg_roles where rolname = pg_temp.role('tools')), false, 'nobody logs in as they');
select is_empty(
  $$ select p.oid::regprocedure from pg_proc p
      where pronamespace = _ledger_schema()::regnamespace and prosecdef
        and (not coalesce(proconfig @> array[format('search_path=pg_catalog, %I, pg_temp', _ledger_schema())], false)
             or (select rolsuper or rolcanlogin from pg_roles where oid = proowner)) $$,
  'what runs with its owner''s privileges has a search path of its own, and an owner that is no superuser and cannot log in');

-- Views and reading functions need nothing more than a reader has.
select submit('Look at the roles');
select ledger_append(item(), 'finding', 'Found while there were roles');
create function pg_temp.problems() returns setof text language plpgsql as $$
declare
  v_read text;
begin
  for v_read in
    select format('select * from %s limit 3', oid::regclass) from pg_class where relnamespace = _ledger_schema()::regnamespace and relkind in ('r', 'v') and relname <> 'people'
  loop
    begin
      execute format('set local role %I', pg_temp.role('reader'));
      execute v_read;
      reset role;
    exception when insufficient_privilege then
      reset role;
      return next format('%s: %s', v_read, sqlerrm);
    end;
  end loop;
end $$;
select is_empty('select pg_temp.problems()', 'a reader reads every other table and every view');

select throws_ok($$ select work_roles_create('Robert"; drop') $$, 'WL002', null, 'a prefix is a part of a name');
select throws_ok($$ select work_roles_create('others_') $$, 'WL002', null, 'a ledger has one set of roles');

select work_roles_drop();
select is_empty(
  $$ select oid::regprocedure::text from pg_proc where pronamespace = _ledger_schema()::regnamespace and (proowner <> current_user::regrole or prosecdef and proname !~ '^_')
     union all select oid::regclass::text from pg_class where relnamespace = _ledger_schema()::regnamespace and relowner <> current_user::regrole
     union all select rolname from pg_roles where rolname like format('t%s\_%%', pg_backend_pid()) $$,
  'and when they are dropped everything is as before');

select * from finish();
rollback;
