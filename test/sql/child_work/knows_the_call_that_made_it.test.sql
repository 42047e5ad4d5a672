-- The call that delegates and the child that it makes know each other: by call and by code, by a SQL tool, after a crash, in
-- second attempts and on branches.
begin;
select plan(11);
set local work_ledger.now = '2026-03-01 12:00+00';

select from faculty_save('{"name": "lead", "accepts": ["lead"], "awareness": {"enabled": false}, "engage": {"code_execution": true, "tools": ["two_parts"]}}');
select from faculty_save('{"name": "part", "accepts": ["part"], "awareness": {"enabled": false}}');
select tool('execute_code', 'idempotent');
create function pg_temp.two_parts(p_input jsonb) returns text language sql as $$
  select string_agg((spawn_child_work(current_setting('work_ledger.work_item_id')::uuid, 'part', 'Part ' || n)).id::text, ' ' order by n) from generate_series(1, 2) n
$$;
select from ability_register('two_parts', 'Two parts.', '{"type": "object"}', 'idempotent', 'safe', 'pg_temp.two_parts(jsonb)');

-- The call of a tool in the newest response; the same, when it has run.
create function pg_temp.call(p_tool text) returns tool_calls language sql as $$ select k from tool_calls k where k.turn_id = turn() and k.tool_name = p_tool $$;
create function pg_temp.run(p_tool text) returns tool_calls language plpgsql as $$
begin
  perform tool_call_execute(item(), lease(), (pg_temp.call(p_tool)).id);
  return pg_temp.call(p_tool);
end
$$;
create function pg_temp.sessions_of(p_item uuid) returns table (is_subagent boolean, parent_session_label text, parent_turn_id uuid, spawn_tool_call_id uuid) language sql as $$
  select s.is_subagent, s.parent_session_label, s.parent_turn_id, s.spawn_tool_call_id from foci f join sessions s on s.label = f.session_label where f.work_item_id = p_item order by f.attempt
$$;

create temporary table lead as select id from work_submit('lead', 'Lead it', p_max_attempts => 3);
select take(id) from lead;
select drive(), answer('[["spawn_child_work", {"work_type": "part", "description": "A part"}]]');
create temporary table made as select (pg_temp.run('spawn_child_work')).*;
select is((select spawn_tool_call_id from work_items where id = (select spawned_work_item_id from made)), (select id from made), 'the call has its child, and the child its call');
select is((select spawn_tool_call_id from v_children where work_item_id = (select spawned_work_item_id from made)), (select id from made), 'v_children shows it');

-- The child's own attempts.
select focus_claim((select spawned_work_item_id from made), 'w');
select results_eq($$ select * from pg_temp.sessions_of((select spawned_work_item_id from made)) $$,
  $$ select true, (select id::text from lead), m.turn_id, m.id from made m $$, 'a child''s session is a subagent''s, below the turn and the call that made it');
select give_up(spawned_work_item_id) from made;
update work_items set run_at = '-infinity' where id = (select spawned_work_item_id from made);
select focus_claim((select spawned_work_item_id from made), 'w');
select results_eq($$ select * from pg_temp.sessions_of((select spawned_work_item_id from made)) $$,
  $$ select true, (select id::text from lead), m.turn_id, m.id from made m cross join generate_series(1, 2) $$, 'the session of a child''s second attempt is below the same call');

-- A SQL tool that delegates; two children of one call.
select iteration_finish(item(), lease());
select drive(), answer('[["two_parts"]]');
create temporary table pair as select (pg_temp.run('two_parts')).*;
select results_eq($$ select w.id::text from work_items w where w.spawn_tool_call_id = (select id from pair) order by w.description $$,
  $$ select regexp_split_to_table(result #>> '{}', ' ') from pair $$, 'children of a SQL tool know its call');
select is((select spawned_work_item_id::text from pair), (select split_part(result #>> '{}', ' ', 1) from pair), 'the call of a SQL tool names the first of its children');

-- Code.
select iteration_finish(item(), lease());
select drive(), answer('[["execute_code", {"code": "x"}]]');
select tool_call_begin(item(), lease(), (pg_temp.call('execute_code')).id);
select tool_call_nested(item(), lease(), (pg_temp.call('execute_code')).id, 0, 'spawn_child_work', '{"work_type": "part", "description": "Part of code"}');
create temporary table nested as select (pg_temp.run('spawn_child_work')).*;
select ok((select w.description = 'Part of code' and k.parent_call_id is not null from nested k join work_items w on w.id = k.spawned_work_item_id and w.spawn_tool_call_id = k.id), 'a call that code makes and its child know each other');

-- A child that no call made: of the attempt that is under way.
create temporary table plain as select id from work_submit('part', 'By hand', p_parent_id => (select id from lead));
select focus_claim((select id from plain), 'w');
select results_eq($$ select * from pg_temp.sessions_of((select id from plain)) $$, $$ select true, (select id::text from lead), null::uuid, null::uuid $$, 'a child that no call made knows the conversation');

-- Branches: of the parent, whose children are its own; of the child, which is nobody's.
create temporary table branch as select id from work_fork((select turn_id from made));
select take(id) from branch;
select drive(), answer('[["spawn_child_work", {"work_type": "part", "description": "Another part"}]]');
create temporary table forked as select (pg_temp.run('spawn_child_work')).*;
select focus_claim((select spawned_work_item_id from forked), 'w');
select results_eq($$ select * from pg_temp.sessions_of((select spawned_work_item_id from forked)) $$,
  $$ select true, (select id::text from branch), f.turn_id, f.id from forked f $$, 'a child of a branch knows the branch');
select results_eq($$ select * from pg_temp.sessions_of((select id from branch)) $$,
  $$ select false, (select id::text from lead), m.turn_id, null::uuid from made m $$, 'a branch knows where it was forked, and is no subagent');
select results_eq($$ select * from pg_temp.sessions_of((select id from lead)) $$, $$ values (false, null::text, null::uuid, null::uuid) $$, 'what nobody delegated has neither');

select * from finish();
rollback;
