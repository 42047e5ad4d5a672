-- Of two clients none writes into what the other one imported: not into its session, its subagents, or an exchange whose id both have.
begin;
select plan(12);

create temporary table made as select * from work_roles_create(format('t%s_', pg_backend_pid()));
do $$ begin execute format('create role t_ann; create role t_bob; grant %1$I to t_ann, t_bob', (select role from made where kind = 'client')); end $$;

-- What a statement answers that somebody runs, or the code of its error.
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
-- Imports a session of exchanges, each an id, after which it comes if not the one before, and what was said.
create function pg_temp.imports(p_role text, p_session text, p_said jsonb, p_more jsonb default '{}') returns text language sql as $$
  select pg_temp.by(p_role, format('select (r ->> ''turns'') || '' new'' from session_import(%L) r', jsonb_build_object('format', 'atif', 'sessionId', p_session, 'prompt', 'Go', 'exchanges',
    (select jsonb_agg(jsonb_build_object('id', s.value ->> 0, 'text', s.value ->> 1, 'calls', coalesce(s.value -> 2, '[]')) order by s.n) from jsonb_array_elements(p_said) with ordinality as s(value, n))) || p_more))
$$;
create function pg_temp.turns(p_session text) returns text language sql as $$
  select string_agg(m.content #>> '{0,text}', ', ' order by t.depth, t.id)
    from work_items w join turns t on t.work_item_id = w.id join messages m on m.turn_id = t.id and m.role = 'assistant' where w.external_id = 'import:atif:' || p_session
$$;

select is(pg_temp.imports('t_ann', 's1', '[["e1", "one"]]'), '1 new', 'a client imports a session');
select is(pg_temp.imports('t_bob', 's1', '[["e1", "one"], ["e2", "FORGED"]]'), '42501', 'another one adds nothing to it');
select is(pg_temp.turns('s1'), 'one', 'nothing was stored');
select is(pg_temp.imports('t_ann', 's1', '[["e1", "one"], ["e2", "two", [{"id": "k", "name": "task", "input": {}, "spawns": "sub"}]]]'), '1 new', 'whoever imported it adds to it');
select is(pg_temp.imports('t_bob', 's2', '[["e1", "one"], ["e2", "mine"], ["e3", "three"]]'), '3 new', 'exchanges of the same ids are not shared with another client');
select is(pg_temp.imports('t_bob', 's2', '[["e1", "one"], ["e2", "mine"], ["e3", "three"], ["e4", "four"]]'), '1 new', 'and are known again');
select is(pg_temp.imports('t_ann', 's3', '[["e1", "one"], ["e2", "two"], ["e5", "five"]]'), '1 new', 'with sessions of the same client they are');
select results_eq($$ select pg_temp.turns(s) from unnest('{s1,s2,s3}'::text[]) s $$, array['one, two', 'one, mine, three, four', 'five'], 'each has what it imported');
select is(pg_temp.imports('t_bob', 's1#sub', '[["f1", "FORGED"]]', '{"parentSessionId": "s1"}'), '42501', 'nobody puts a subagent below a session of somebody else''s');
select is(pg_temp.imports('t_bob', 's4#sub', '[["g1", "sub"]]'), '1 new', 'a session comes first');
select is(pg_temp.imports('t_ann', 's4', '[["h1", "four", [{"id": "k", "name": "task", "input": {}, "spawns": "sub"}]]]'), '1 new', 'then one that claims it as its subagent');
select results_eq($$ select parent_session_label, spawn_tool_call_id from sessions where label = 'atif:s4#sub' $$, $$ values (null::text, null::uuid) $$, 'which stays as it was');

select * from finish();
rollback;
