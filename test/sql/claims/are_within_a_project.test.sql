-- Another worktree of a project is told of as another branch; the project's setting goes before those of faculties.
begin;
select plan(10);

select set_config('work_ledger.now', '2026-01-01 12:00:00Z', true);
select tool('edit_file', 'unsafe', 'moderate'), tool('change_order', 'unsafe', 'moderate');
insert into touch_rules (tool_name, position, place, kind, action) values ('change_order', 1, '$.order', 'record', 'modify');
select agent('{"workspace": "host", "tools": ["edit_file", "change_order"], "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
create temporary table work as
  select n, (work_submit('analyze', 'Work ' || n, p_workspace_dir => d, p_project => p)).id
    from (values (1, '/shop', 'acme/shop'), (2, '/shop-2', 'acme/shop'), (3, '/shop', 'acme/shop'), (4, '/else', 'acme/else')) v(n, d, p);
create function pg_temp.id(p_n integer) returns uuid language sql as $$ select id from work where n = p_n $$;
create function pg_temp.call(p_n integer, p_tool text, p_input jsonb) returns text language plpgsql as $$
begin
  perform play(jsonb_build_array(jsonb_build_array(jsonb_build_array(p_tool, p_input, 'done'))), pg_temp.id(p_n));
  return (select k.result #>> '{}' from tool_calls k where k.work_item_id = pg_temp.id(p_n) order by k.created_at desc, k.id desc limit 1);
end
$$;

select is((project_set('acme/shop', 'refuse')).claims, 'refuse', 'a project says what becomes of calls');
select is(pg_temp.call(1, 'edit_file', '{"path": "a.js"}'), 'done', 'the first changes a file');
select results_eq('select scope, key from v_claims', $$ values ('acme/shop', 'file:a.js') $$, 'and holds it within the project');
select is(pg_temp.call(2, 'edit_file', '{"path": "a.js"}'), E'[claim] Worker/analyze changed a.js 0 s ago on another branch and is still working on it: "Work 1"\ndone', 'in another worktree that is another branch, never refused');
select alike(pg_temp.call(3, 'edit_file', '{"path": "a.js"}'), '[claim] Not executed: Worker/analyze holds a.js %"Work 1"%', 'the project''s setting goes before that of the faculty');
select is(pg_temp.call(1, 'change_order', '{"order": 7}'), 'done', 'records are claimed, too');
select alike(pg_temp.call(2, 'change_order', '{"order": 7}'), '[claim] Not executed: Worker/analyze holds record:7 %', 'they are the same wherever a project is worked on');
select is(pg_temp.call(4, 'change_order', '{"order": 7}'), 'done', 'and others in another project');
select from project_rename('acme/shop', 'acme/store');
select alike(pg_temp.call(3, 'change_order', '{"order": 7}'), '[claim] Not executed: %', 'a project that is renamed is the same');
select from project_set('acme/store', 'off');
select is(pg_temp.call(3, 'change_order', '{"order": 7}'), 'done', 'with off nobody is asked');

select * from finish();
rollback;
