-- Findings of work_ledger_doctor() about tools that are users' SQL functions.

create or replace function _doctor_tools()
  returns table (severity text, code text, work_item_id uuid, says text, remedy text)
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with function as (
    select name, function_name, to_regprocedure(function_name || '(jsonb)') as call from abilities where implementation = 'sql' and not is_builtin
  )
  select 'error', 'tools', null::uuid, 'this ledger has roles, but none that runs users'' SQL functions: calls to these tools fail',
         'Call work_roles_create() as a role that may create roles.'
   where exists (select from ledger_roles) and _role('tools') is null and exists (select from function)
  union all
  select 'warning', 'tools', null, format('ability "%s": its function %s no longer exists', f.name, f.function_name),
         'Create it again, or register another with ability_register().'
    from function f
   where f.call is null
  union all
  select 'warning', 'tools', null, format('ability "%s": %s', f.name, d.says), d.remedy
    from function f
    cross join lateral _ability_doubts(f.call) d;
$$;

comment on function _doctor_tools() is 'Findings of work_ledger_doctor() on SQL functions of users that are gone, that the role of tools may not run, or that run with more rights than a tool needs.';
