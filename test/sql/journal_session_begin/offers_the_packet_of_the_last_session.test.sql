-- A new session is offered the packet of the one before it in its directory, if that is over and one's own.
begin;
select plan(11);

create temporary table made as select * from work_roles_create(format('t%s_', pg_backend_pid()));
do $$ begin execute format('create role t_ann; create role t_bob; grant %1$I to t_ann, t_bob', (select role from made where kind = 'client')); end $$;
create function pg_temp.by(p_role text, p_sql text) returns text language plpgsql as $$
declare
  v_me text := session_user;
  v_said text;
begin
  perform set_config('session_authorization', p_role, true);
  execute p_sql into v_said;
  perform set_config('session_authorization', v_me, true);
  return v_said;
end $$;
create function pg_temp.opens(p_role text, p_name text, p_directory text) returns uuid language sql as $$
  select pg_temp.by(p_role, format('select id from journal_session_open(%L, p_directory => %L)', p_name, p_directory))::uuid $$;
create function pg_temp.begins(p_role text, p_name text, p_directory text default '/shop') returns text language sql as $$
  select pg_temp.by(p_role, format('select journal_session_begin(%L, %L)', pg_temp.opens(p_role, p_name, p_directory), p_directory)) $$;
create function pg_temp.asks(p_role text, p_name text, p_prompt text, p_directory text default '/shop') returns uuid language sql as $$
  select pg_temp.by(p_role, format('select id from journal_session_prompt(%L, %L)', pg_temp.opens(p_role, p_name, p_directory), p_prompt))::uuid $$;

create temporary table first as select pg_temp.asks('t_ann', 's1', 'Rework the invoices', '/shop/src') as id;
select unalike(pg_temp.begins('t_ann', 's2'), '%session before%', 'a session that is alive is nobody else''s');
select alike(pg_temp.begins('t_ann', 's2'), '%- [session] Rework the invoices (active)%', 'it is told of as of a colleague');
select from journal_session_status((select id from first), 'paused');
select alike(pg_temp.begins('t_ann', 's2'), format('The previous session in this directory (work item %s, paused), as data between the markers: continue its task only if you are asked to:%%## The task%%Rework the invoices%%', (select id from first)), 'of one that is over the packet is offered');
select unalike(pg_temp.begins('t_bob', 's3'), '%session before%', 'of somebody else''s it is not');
select unalike(pg_temp.begins('t_ann', 's4', '/shop-two'), '%session before%', 'a directory of a similar name is another');
select alike(pg_temp.begins('t_ann', 's1', '/shop/src'), 'Work to continue%', 'who comes back goes on with its own');
select from pg_temp.asks('t_ann', 's2', 'Write the docs');
select alike(pg_temp.begins('t_ann', 's2'), 'Work to continue%Write the docs%', 'and so does one that was offered another''s');

create temporary table resumed as select * from journal_resume((select id from first), 'elsewhere');
select is((select description from resumed), 'Rework the invoices', 'a session that is resumed in another conversation is about the same');
select matches(journal_session_begin((select id from resumed), '/shop'), format(E'^What work item %s, shown below, continues \\(work item %s, active\\).*Work to continue', (select id from resumed), (select id from first)), 'and is told the packet of what it goes on from when it begins');
select from journal_session_prompt((select id from resumed), 'Now the taxes');
select matches(export_for_resumption((select id from resumed)), 'shown below, continues .*Rework the invoices.*Work to continue .*Now the taxes', 'and later with its own');
select from journal_session_status((select id from first), 'completed'), work_erase((select id from first), 'test');
select unalike(journal_session_begin((select id from resumed), '/shop'), '%shown below, continues%', 'unless that is erased');

select * from finish();
rollback;
