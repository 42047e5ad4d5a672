-- What an agent delegates belongs to whoever submitted its work, not to the worker that drives it.
begin;
select plan(4);

create temporary table made as select * from work_roles_create(format('t%s_', pg_backend_pid()));
do $$ begin execute format('create role t_ann; create role t_bob; create role t_worker; grant %1$I to t_ann, t_bob; grant %2$I to t_worker',
  (select role from made where kind = 'client'), (select role from made where kind = 'worker')); end $$;
create function pg_temp.by(p_role text, p_sql text) returns text language plpgsql as $$
declare
  v_me text := session_user;
  v_said text;
begin
  perform set_config('session_authorization', p_role, true);
  begin
    execute p_sql into v_said;
  exception when others then
    v_said := sqlstate;
  end;
  perform set_config('session_authorization', v_me, true);
  return v_said;
end $$;

select agent();
select take(pg_temp.by('t_ann', $$ select id from work_submit('analyze', 'Fix it') $$)::uuid);
create temporary table lease as select pg_temp.by('t_worker', format('select focus_claim(%L, ''w'') ->> ''lease''', item())) as id;
create temporary table child as select pg_temp.by('t_worker', format($$ select id from spawn_child_work(%L, 'analyze', 'A part of it', p_lease => %L) $$, item(), (select id from lease))) as id;
select is((select w.submitted_by::text from work_items w, child c where w.id::text = c.id), 't_ann', 'a child belongs to who submitted its parent');
select is(pg_temp.by('t_ann', format('select kind from work_message(%L, ''Only April'')', (select id from child))), 'message', 'who may say something to its agent');
select is(pg_temp.by('t_bob', format('select kind from work_message(%L, ''Only May'')', (select id from child))), '42501', 'as nobody else may');
select is(pg_temp.by('t_ann', format('select state from work_cancel(%L)', (select id from child))), 'cancelled', 'and may end it');

select * from finish();
rollback;
