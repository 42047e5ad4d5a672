-- Roles belong to the server, but a dump says which ones the ledger had.
begin;
select plan(10);

create function pg_temp.found() returns setof text language sql as $$ select says from work_ledger_doctor() where code in ('roles', 'tools') and severity <> 'fine' order by 1 $$;
insert into ledger_roles (kind, role) select kind, 'gone_' || kind from _role_kinds() where kind <> 'console';
create function public.look_up(jsonb) returns text language sql return 'found';
select lives_ok($$select ability_register('look_up', 'Looks.', '{"type": "object"}', 'pure', 'safe', 'public.look_up(jsonb)')$$, 'a function can be registered meanwhile');
select results_eq('select pg_temp.found()',
  array['roles of this ledger are not on this server: gone_admin, gone_agent, gone_approver, gone_client, gone_owner, gone_reader, gone_tools, gone_worker',
        'this ledger has roles, but none that runs users'' SQL functions: calls to these tools fail'], 'the doctor says which are missing');

savepoint before;
create role poor;
do $do$
begin
  execute format('grant usage on schema %I to poor', _ledger_schema());
  execute format('grant execute on all functions in schema %I to poor', _ledger_schema());
end
$do$;
grant select on ledger_roles to poor;
set local role poor;
select throws_ok('select _roles_apply()', '42501',
  'roles of this ledger are not on this server (work_roles_create() makes them, as a role that may; work_roles_drop() does without): gone_admin, gone_agent, gone_approver, gone_client, gone_owner, gone_reader, gone_tools, gone_worker',
  'an installer that may make no roles is refused');
rollback to before;

select lives_ok('select _roles_apply()', 'an installer that may make them does');
select is(array(select role::text from ledger_roles where not pg_has_role(role, 'member') and role not in (select rolname from pg_roles)), '{}', 'all are there');
select is((select relowner::regrole::text from pg_class where oid = 'work_items'::regclass), 'gone_owner', 'and have what they had');
select is_empty('select pg_temp.found()', 'the doctor has nothing more to say');

rollback to before;
select is_empty('select work_roles_drop()', 'who wants to do without them drops none');
select is_empty('select * from ledger_roles', 'and the ledger has no roles');
select is((select count(*)::integer from work_roles_create('other_')), 9, 'or makes others');

select * from finish();
rollback;
