-- Who changes a file in a directory that others share holds it for a while: others hear of it, or their calls are not run.
begin;
select plan(26);

select set_config('work_ledger.now', '2026-01-01 12:00:00Z', true);
select tool('edit_file', 'unsafe', 'moderate'), tool('read_file');
create function pg_temp.make(p_name text, p_claims text, p_directory text, p_workspace text default 'host') returns uuid language sql as $$
  select (work_submit(p_name, 'Work of ' || p_name)).id
    from faculty_save(jsonb_build_object('name', p_name, 'accepts', array[p_name], 'claims', p_claims, 'awareness', '{"enabled": false}'::jsonb,
      'engage', jsonb_build_object('ledger_nudge_interval', 0, 'workspace', p_workspace, 'workspace_dir', p_directory, 'tools', array['edit_file', 'read_file'])))
$$;
create temporary table work as
  select v.name, pg_temp.make(v.name, v.claims, v.directory, v.workspace) as id
    from (values ('first', 'warn', '/shop', 'host'), ('second', 'warn', '/shop', 'host'), ('firm', 'refuse', '/shop', 'host'), ('silent', 'off', '/shop', 'host'),
                 ('elsewhere', 'refuse', '/other', 'host'), ('inside', 'refuse', '/shop/src', 'host'), ('copy', 'refuse', '/shop', 'container'), ('alone', 'refuse', null, 'container')) v(name, claims, directory, workspace);
create function pg_temp.id(p_name text) returns uuid language sql as $$ select id from work where name = p_name $$;
-- One call that changes a file; how it ended.
create function pg_temp.edit(p_name text, p_path text, p_tool text default 'edit_file') returns text language plpgsql as $$
begin
  perform play(jsonb_build_array(jsonb_build_array(jsonb_build_array(p_tool, jsonb_build_object('path', p_path), 'done'))), pg_temp.id(p_name));
  return (select k.result #>> '{}' from tool_calls k where k.work_item_id = pg_temp.id(p_name) order by k.created_at desc, k.id desc limit 1);
end
$$;

select is(pg_temp.edit('first', 'src/money.js'), 'done', 'the first is told nothing');
select results_eq($$ select by, key, scope, mode, is_binding, why, ends_at - changed_at from v_claims $$,
  $$ values ('First/first', 'file:src/money.js', '/shop', 'exclusive', true, null, interval '15 minutes') $$, 'it holds what it changes, for 15 minutes');
select later('40 seconds');
select is(pg_temp.edit('second', './src//money.js'), E'[claim] First/first changed src/money.js 40 s ago and is still working on it: "Work of first"\ndone', 'with warn the result begins with a line');
select is((select is_binding from v_claims where work_item_id = pg_temp.id('second')), false, 'who goes on all the same binds nobody');
select later('1 second');
select is(pg_temp.edit('second', 'src/money.js'), 'done', 'it is told once');
select is(pg_temp.edit('first', 'src/money.js'), E'[claim] Second/second changed src/money.js 0 s ago and is still working on it: "Work of second"\ndone', 'the first hears of it, too');
select later('1 second');
select is(pg_temp.edit('first', 'src/money.js', 'read_file'), 'done', 'who reads is told nothing here');

select is(pg_temp.edit('firm', 'src/money.js'),
  format('[claim] Not executed: First/first holds src/money.js since 12:00 UTC: "Work of first" (work item %s). It becomes free when that work ends, or at 12:15 UTC if it is not renewed. Do other work first, or, where you can, wait_for "file:src/money.js" or tell_agent %1$s what you need.', pg_temp.id('first')),
  'with refuse the model is told who, since when, why, until when, and what it can do');
select results_eq($$ select status, is_error, attempts, started_at from tool_calls where work_item_id = pg_temp.id('firm') $$, $$ values ('failed', true, 0, null::timestamptz) $$, 'and the call was never begun');
select is_empty($$ select from claims where work_item_id = pg_temp.id('firm') $$, 'a call that is refused claims nothing');
select is((select state from work_items where id = pg_temp.id('firm')), 'running', 'its work goes on');
select alike(pg_temp.edit('inside', 'money.js'), '[claim] Not executed: First/first holds money.js %', 'a file is the same, seen from another directory');
select alike(pg_temp.edit('inside', '/shop/src/../SRC/Money.js'), '[claim] Not executed: First/first holds Money.js %', 'and by its absolute path; some file systems ignore case');
select is(pg_temp.edit('elsewhere', 'src/money.js'), 'done', 'the same name in another directory is another file');
select is(pg_temp.edit('silent', 'src/money.js'), 'done', 'with off nobody is asked');
select is_empty($$ select from claims where work_item_id = pg_temp.id('silent') $$, 'and nothing claimed');
select alike(pg_temp.edit('copy', 'src/money.js'), '[claim] % changed src/money.js % in another copy and is still working on it: %done', 'who works in a copy is told, never refused');
select is((select is_binding from v_claims where work_item_id = pg_temp.id('copy')), false, 'and binds nobody');
select is(pg_temp.edit('alone', 'src/money.js'), 'done', 'a container without a directory shares nothing');
select is_empty($$ select from claims where work_item_id = pg_temp.id('alone') $$, 'and claims nothing');

select work_cancel(id) from work where name in ('first', 'second', 'copy');
select is(pg_temp.edit('firm', 'src/money.js'), 'done', 'what ends lets go of it');
select later('16 minutes');
select is(pg_temp.edit('inside', 'money.js'), 'done', 'what was not changed for 15 minutes is free');
select alike(pg_temp.edit('firm', 'src/money.js'), '[claim] Not executed: Inside/inside holds src/money.js %', 'then its next holder has it');
select is(pg_temp.edit('firm', repeat('é', 600)), 'done', 'a name that is too long for a key stops nothing');
select is((select count(*) from claims where length(key) > 500), 0::bigint, 'and is not claimed');
select is((select count(*) from tool_calls where warning is not null), 0::bigint, 'what a result began with is nowhere else');

select * from finish();
rollback;
