-- A call claims when it is cleared to run: after its hook, for the input as that rewrote it; after its approval; of code, one by one.
begin;
select plan(19);

select set_config('work_ledger.now', '2026-01-01 12:00:00Z', true);
select tool('edit_file', 'unsafe', 'moderate'), tool('move_file', 'unsafe', 'moderate'), tool('send_file', 'unsafe', 'dangerous'), tool('execute_code', 'idempotent');
insert into touch_rules (tool_name, position, place, kind, action) values ('send_file', 1, '$.path', 'path', 'modify');
create function pg_temp.make(p_name text, p_more jsonb) returns uuid language sql as $$
  select (work_submit(p_name, 'Work of ' || p_name)).id
    from faculty_save('{"awareness": {"enabled": false}, "claims": "refuse"}' || jsonb_build_object('name', p_name, 'accepts', array[p_name],
      'engage', '{"ledger_nudge_interval": 0, "workspace": "host", "workspace_dir": "/shop", "code_execution": true, "require_approval": "dangerous", "tools": ["edit_file", "move_file", "send_file"]}'::jsonb) || p_more)
$$;
create temporary table work as select v.name, pg_temp.make(v.name, v.more) as id
  from (values ('holder', '{}'::jsonb), ('hooked', '{"hooks": {"before_tool": "guard"}}'), ('asking', '{}'), ('coder', '{}'), ('mover', '{}'), ('warned', '{"claims": "warn"}')) v(name, more);
create function pg_temp.id(p_name text) returns uuid language sql as $$ select id from work where name = p_name $$;
create function pg_temp.held(p_name text) returns text language sql as $$ select string_agg(key, ',' order by key) from v_claims where work_item_id = pg_temp.id(p_name) $$;
select play('[[["edit_file", {"path": "a.js"}]]]', pg_temp.id('holder'));

select drive(pg_temp.id('hooked'));
select answer('[["edit_file", {"path": "a.js"}], ["edit_file", {"path": "b.js"}]]', pg_temp.id('hooked'));
select is(pg_temp.held('hooked'), null, 'before its hook has run, a call claims nothing');
select iteration_release(pg_temp.id('hooked'), lease(pg_temp.id('hooked')));
select drive(pg_temp.id('hooked'));
select is(pg_temp.held('hooked'), null, 'nor for the next worker');
select is(tool_hook_record(pg_temp.id('hooked'), lease(pg_temp.id('hooked')), call('t2_1', pg_temp.id('hooked')), 'before_tool', '{"exit_code": 0, "stdout": "{\"input\": {\"path\": \"c.js\"}}"}') ->> 'kind', 'go', 'what a hook rewrites is cleared');
select is(pg_temp.held('hooked'), 'file:c.js', 'and claimed as it is then');
select is(tool_hook_record(pg_temp.id('hooked'), lease(pg_temp.id('hooked')), call('t2_2', pg_temp.id('hooked')), 'before_tool', '{"exit_code": 0, "stdout": "{\"input\": {\"path\": \"a.js\"}}"}') ->> 'kind', 'settled', 'or refused');
select alike((select result #>> '{}' from tool_calls where id = call('t2_2', pg_temp.id('hooked'))), '[claim] Not executed: Holder/holder holds a.js %', 'and the model is told');

select drive(pg_temp.id('asking'));
select answer('[["send_file", {"path": "a.js"}], ["send_file", {"path": "d.js"}]]', pg_temp.id('asking'));
select is(pg_temp.held('asking'), null, 'a call that waits for a person claims nothing');
select iteration_finish(pg_temp.id('asking'), lease(pg_temp.id('asking')));
select tool_call_approve(k.id) from tool_calls k where k.work_item_id = pg_temp.id('asking');
select drive(pg_temp.id('asking'));
select is(pg_temp.held('asking'), 'file:d.js', 'approved it does');
select results_eq($$ select status, left(result #>> '{}', 22) from tool_calls where work_item_id = pg_temp.id('asking') order by ordinal $$, $$ values ('failed', '[claim] Not executed: '), ('pending', null) $$, 'or is refused, whatever the person said');

select drive(pg_temp.id('coder'));
select answer('[["execute_code", {"code": "x"}]]', pg_temp.id('coder'));
create function pg_temp.nested(p_name text, p_ordinal integer, p_path text) returns json language sql as $$
  select tool_call_nested(pg_temp.id(p_name), lease(pg_temp.id(p_name)), (select id from tool_calls where work_item_id = pg_temp.id(p_name) and tool_name = 'execute_code'), p_ordinal, 'edit_file', json_build_object('path', p_path)) $$;
select tool_call_begin(pg_temp.id('coder'), lease(pg_temp.id('coder')), (select id from tool_calls where work_item_id = pg_temp.id('coder')));
select is(pg_temp.nested('coder', 0, 'e.js') ->> 'kind', 'run', 'what code changes');
select is(pg_temp.held('coder'), 'file:e.js', 'is claimed, too');
select is(pg_temp.nested('coder', 1, 'a.js') ->> 'kind', 'settled', 'or refused');
select alike(pg_temp.nested('coder', 1, 'a.js') ->> 'content', '[claim] Not executed: %', 'and code is told, also when it runs again');
select drive(pg_temp.id('warned'));
select answer('[["execute_code", {"code": "x"}]]', pg_temp.id('warned'));
select tool_call_begin(pg_temp.id('warned'), lease(pg_temp.id('warned')), (select id from tool_calls where work_item_id = pg_temp.id('warned')));
select is(pg_temp.nested('warned', 0, 'a.js') ->> 'kind', 'run', 'with warn it runs');
select tool_call_settle(pg_temp.id('warned'), lease(pg_temp.id('warned')), (select id from tool_calls where work_item_id = pg_temp.id('warned') and tool_name = 'execute_code'), 'printed');
select is((select result #>> '{}' from tool_calls where work_item_id = pg_temp.id('warned') and tool_name = 'execute_code'), E'[claim] Holder/holder changed a.js 0 s ago and is still working on it: "Work of holder"\nprinted', 'and the model reads of it at the beginning of what its code printed');

select drive(pg_temp.id('mover'));
select answer('[["move_file", {"source": "free.js", "destination": "a.js"}], ["edit_file", {"path": "g.js"}]]', pg_temp.id('mover'));
select is(pg_temp.held('mover'), 'file:g.js', 'a call that is refused for one of its files claims none; others of its response run');
select is((select count(*) from tool_calls where work_item_id = pg_temp.id('mover') and is_error), 1::bigint, 'as they would');

-- A long result, and one with an image.
select drive(pg_temp.id('warned')), run(p_item => pg_temp.id('warned'));
select iteration_finish(pg_temp.id('warned'), lease(pg_temp.id('warned')));
select play('[[["edit_file", {"path": "g.js"}, "done"]]]', pg_temp.id('mover'));
select later('1 second');
select drive(pg_temp.id('warned'));
select answer('[["edit_file", {"path": "g.js"}]]', pg_temp.id('warned'));
select tool_call_settle(pg_temp.id('warned'), lease(pg_temp.id('warned')), k.id, repeat('x', 60000)) from tool_calls k where k.work_item_id = pg_temp.id('warned') and k.completed_at is null;
select alike((select result #>> '{}' from tool_calls where work_item_id = pg_temp.id('warned') order by created_at desc limit 1), E'[claim] Mover/mover changed g.js 1 s ago%"\nxxx%', 'a long result begins with it, too');
select is((select content from artifacts where octet_length(content) >= 60000), repeat('x', 60000), 'and the whole of it is as it was');

select * from finish();
rollback;
