-- Of the roles of a ledger only the administrator erases, and workers only what policies say.
begin;
select plan(7);

select agent('{"tools": ["look"]}');
select submit('Canary');
select play('[[["finding", "canary"]], ["done"]]');
select set_config('test.item', item()::text, true);
set constraints all immediate;
create temporary table made as select * from work_roles_create(format('t%s_', pg_backend_pid()));
grant select on made to public;
create function pg_temp.become(p_kind text) returns text language sql as $$ select set_config('role', (select role from made where kind = p_kind), true) $$;

select pg_temp.become('client');
select throws_ok(format('select work_erase(%L)', current_setting('test.item')), '42501', null, 'no client erases');
select throws_ok('select work_retention_run()', '42501', null, 'by no policy either');
select throws_ok(format($$ select ledger_retract(%L, 1, 'no') $$, current_setting('test.item')), '42501', null, 'nor takes back');
reset role;

select pg_temp.become('worker');
select throws_ok(format('select work_erase(%L)', current_setting('test.item')), '42501', null, 'no worker erases');
select is((work_retention_run() ->> 'is_done')::boolean, true, 'a worker runs what policies say');
reset role;

select pg_temp.become('admin');
select isnt_empty(format('select * from work_erase(%L)', current_setting('test.item')), 'an administrator erases');
select is((select array_agg(content) from work_ledger), '{[erased]}', 'for good');
reset role;

select * from finish();
rollback;
