-- A name of a conversation is a client's own: another client that opens it has a session of its own, and writes to that.
begin;
select plan(8);

create temporary table made as select * from work_roles_create(format('t%s_', pg_backend_pid()));
do $$ begin execute format('create role t_ann; create role t_bob; create role t_adm; grant %1$I to t_ann, t_bob; grant %2$I to t_adm',
  (select role from made where kind = 'client'), (select role from made where kind = 'admin')); end $$;
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
create function pg_temp.opens(p_role text) returns text language sql as $$ select pg_temp.by(p_role, 'select id from journal_session_open(''chat-1'', ''Build'')') $$;

create temporary table opened as select 't_ann' as who, pg_temp.opens('t_ann') as id;
insert into opened select 't_bob', pg_temp.opens('t_bob');
select is((select count(distinct id) from opened where id ~ '-'), 2::bigint, 'two clients have two sessions');
select is_empty($$ select who from opened where pg_temp.opens(who) <> id $$, 'each gets its own again');
select is_empty($$ select who from opened where pg_temp.by(who, 'select (journal_session_active(''chat-1'')).id') <> id $$, 'and finds its own');
select is(pg_temp.by('t_bob', format($$ select entry_type from journal_log(%L, 'thinking', '{"reasoning": "mine"}') $$, (select id from opened where who = 't_bob'))), 'thinking', 'to which it writes');
select ok(pg_temp.opens('t_adm') in (select id from opened), 'an administrator, who may write to both, has none of his own');
select is(pg_temp.by('t_bob', format($$ select id from journal_session_create('chat-2', 'Mine', p_id => %L) $$, (select id from opened where who = 't_ann'))), '42501', 'an id of somebody else''s session makes none');
select is(pg_temp.by('t_bob', format('select ability_invoke(''ldg:task:save'', %L)', jsonb_build_object('task', jsonb_build_object(
  'id', 'below', 'parentTaskId', (select id from opened where who = 't_ann'), 'systemPrompt', 'p', 'createdAt', 1, 'updatedAt', 1)))), '42501', 'nor is a task put below it');

create function pg_temp.saves(p_role text, p_what text, p_entity jsonb) returns text language sql as $$
  select pg_temp.by(p_role, format('select ability_invoke(%L, %L)', 'ldg:' || p_what || ':save', jsonb_build_object(p_what, '{"createdAt": 1, "updatedAt": 1, "timestamp": 1}' || p_entity))) $$;
select pg_temp.saves('t_ann', 'task', '{"id": "t1", "systemPrompt": "p"}'), pg_temp.saves('t_bob', 'task', '{"id": "t2", "systemPrompt": "p"}');
select pg_temp.by('t_ann', format('select ability_invoke(''ldg:msg:save'', %L)', '{"message": {"id": "m1", "taskId": "t1", "role": "user", "content": "hers", "timestamp": 1}}'));
select is(pg_temp.saves('t_bob', 'call', '{"id": "k1", "taskId": "t2", "abilityName": "a", "parameters": "{}", "details": "{}", "status": "pending", "startMessageId": "m1"}'), '42501',
  'a call does not begin with a message of somebody else''s');

select * from finish();
rollback;
