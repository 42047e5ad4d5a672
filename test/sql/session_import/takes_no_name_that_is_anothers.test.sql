-- An import has its own work item, session and branches, also where somebody gave such a name to something else.
begin;
select plan(5);

create temporary table made as select * from work_roles_create(format('t%s_', pg_backend_pid()));
do $$ begin execute format('create role t_ann; create role t_bob; grant %1$I to t_ann, t_bob', (select role from made where kind = 'client')); end $$;
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
create function pg_temp.imports(p_role text, p_session text, variadic p_said text[]) returns text language sql as $$
  select pg_temp.by(p_role, format('select (r ->> ''turns'') || '' new'' from session_import(%L) r', jsonb_build_object('format', 'atif', 'sessionId', p_session, 'prompt', 'Go', 'exchanges',
    (select jsonb_agg(jsonb_build_object('id', split_part(s, ' ', 1), 'after', nullif(split_part(s, ' ', 2), ''), 'text', s) order by n) from unnest(p_said) with ordinality as u(s, n)))))
$$;

select pg_temp.imports('t_bob', 's1', 'a', 'b');
select pg_temp.by('t_bob', format('select session_create(%L, %L)', 'atif:s2', (select id from turns where external_id = 'atif:b')));
select is(pg_temp.imports('t_ann', 's2', 'c'), '42501', 'a session that stands in somebody else''s work is not moved');
select pg_temp.by('t_bob', $$ select work_submit('chore', 'Sweep', p_external_id => 'import:atif:s3') $$);
select is(pg_temp.imports('t_bob', 's3', 'd'), 'WL006', 'work that is no import gets no imported turns');

select pg_temp.by('t_bob', $$ select session_create('atif:s4@1') $$);
select is(pg_temp.imports('t_ann', 's4', 'e', 'f'), '2 new', 'a session');
select is(pg_temp.imports('t_ann', 's4', 'e', 'f', 'g e'), '1 new', 'that went back to an earlier turn');
select results_eq($$ select label, head_turn_id = (select id from turns where external_id = 'atif:f') from sessions where label like 'atif:s4%' order by label $$,
  $$ values ('atif:s4', false), ('atif:s4@1', null), ('atif:s4@2', true) $$, 'leaves its branch under a name that is free');

select * from finish();
rollback;
