-- A session acts in the name whose token it has; a name alone is believed only of a role that may vouch.
begin;
select plan(11);

create temporary table ann as select encode(sha256(token::bytea), 'hex') as proof, token from person_add('Ann');
create function pg_temp.says(p_token text, p_name text default '') returns text language plpgsql as $$
begin
  perform set_config('work_ledger.person_token', p_token, true), set_config('work_ledger.person', p_name, true);
  return person_current();
end $$;

select is(person_current(), null, 'without a setting nobody is named');
select is(pg_temp.says((select proof from ann)), 'Ann', 'who has the token acts in the name');
select throws_ok(format('select pg_temp.says(%L)', bad), '42501', null, 'no other text stands for a token')
  from (select token from ann union all select repeat('0', 64) union all select 'Ann' union all select encode(token_hash, 'hex') from people) x(bad);
select is(pg_temp.says('', 'Zoe'), 'Zoe', 'the owner of the ledger may vouch');
select throws_ok(format('select pg_temp.says('''', %L)', E'Zoe\nBob'), 'WL002', null, 'for names alone');

-- As whoever has logged in with a role of the ledger.
create temporary table made as select * from work_roles_create(format('p%s_', pg_backend_pid()));
select results_eq($$ select kind from made where has_function_privilege(role, '_vouches()', 'execute') order by 1 $$, array['console', 'owner'], 'no other role may vouch than those of a console and of the owner');
create temporary table said (kind text, with_token text, with_name text);
do $do$
declare
  v_role record;
  v_proof text := (select proof from ann);
  v_with_token text;
  v_with_name text;
begin
  for v_role in select * from made where kind in ('client', 'admin', 'worker', 'console') loop
    execute format('set local session authorization %I', v_role.role);
    perform set_config('work_ledger.person_token', v_proof, true), set_config('work_ledger.person', 'Ann', true);
    v_with_token := person_current();
    perform set_config('work_ledger.person_token', '', true);
    begin
      v_with_name := person_current();
    exception when others then
      v_with_name := sqlstate;
    end;
    set local session authorization default;
    insert into said values (v_role.kind, v_with_token, v_with_name);
  end loop;
end
$do$;
select bag_eq('table said', $$ values ('client', 'Ann', '42501'), ('admin', 'Ann', '42501'), ('worker', 'Ann', '42501'), ('console', 'Ann', 'Ann') $$,
  'a token is believed of everybody, a name of a console');
-- Whatever is granted on all tables.
do $do$
declare
  v_role name := (select role from made where kind = 'reader');
begin
  execute format('grant select on all tables in schema %I to %I', _ledger_schema(), v_role);
  execute format('set local role %I', v_role);
  create temporary table seen as select * from people;
  reset role;
end
$do$;
select is_empty('table seen', 'nobody but the owner reads a hash, also with rights on all tables');

select * from finish();
rollback;
