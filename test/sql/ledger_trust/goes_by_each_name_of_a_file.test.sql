-- An entry that names a file is stale once the file has changed, however the change names it, and whoever made it: a worker, or a session of another
-- program that says so by its hooks or in its record.
begin;
select plan(11);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select ability_register('write_file', 'Writes.', '{"type": "object"}', 'idempotent', 'safe', p_touches => '[{"key": "path", "action": "create"}]', p_source => 'none');
select agent('{"tools": ["write_file"]}', '{"awareness": {"enabled": false}}');
create temporary table entry as
  select l.*
    from work_submit('analyze', 'Read', p_project => 'shop', p_workspace_dir => '/srv/shop') w,
         ledger_append(w.id, 'finding', 'toCents() in src/money.js truncates') l;
create temporary table session as
  select p || '/' || d as name, (journal_session_open(p || d, 'Mend it', '/srv/' || d, p)).id from unnest('{shop,bank}'::text[]) p, unnest('{shop,other}'::text[]) d;
create function pg_temp.stale() returns text language sql as $$ select _stale_file(work_item_id, content, created_at, tool_call_id) from entry $$;
create function pg_temp.says(p_session text, p_path text) returns void language sql as $$
  select later('1 second');
  select from session s, journal_log(s.id, 'file_written', jsonb_build_object('filePath', p_path, 'operation', 'modify')) where s.name = p_session $$;
create function pg_temp.writes(p_project text, p_directory text, p_path text) returns void language sql as $$
  select later('1 second');
  select take((work_submit('analyze', 'Write', p_project => p_project, p_workspace_dir => p_directory)).id);
  select play(jsonb_build_array(jsonb_build_array(jsonb_build_array('write_file', jsonb_build_object('path', p_path))))) $$;

select pg_temp.says('shop/shop', '/srv/shop/src/other.js'), pg_temp.says('shop/other', 'src/money.js'), pg_temp.says('bank/other', '/srv/shop/src/money.js');
select pg_temp.writes('shop', '/srv/other', 'src/money.js'), pg_temp.writes('shop', null, 'src/money.js'), pg_temp.writes('bank', null, '/srv/shop/src/money.js');
select is(pg_temp.stale(), null, 'nor another file, nor that of another directory or project');

savepoint before;
select pg_temp.says('shop/shop', '/srv/shop/src/money.js');
select is(pg_temp.stale(), 'src/money.js', 'a session in the same directory');
select alike(awareness_digest(), '%truncates [stale: src/money.js has changed since]%', 'a digest says it on');
rollback to before;
select pg_temp.says('shop/other', '/srv/shop/src/money.js');
select is(pg_temp.stale(), 'src/money.js', 'a session in another directory, by the whole path');
rollback to before;
select pg_temp.says('bank/shop', 'src/money.js');
select is(pg_temp.stale(), 'src/money.js', 'a session by the path from the same directory');
rollback to before;
select pg_temp.writes('shop', '/srv/other', '/srv/shop/src/money.js');
select is(pg_temp.stale(), 'src/money.js', 'a worker by the whole path');
rollback to before;
select pg_temp.writes('bank', '/srv/shop', 'src/money.js');
select is(pg_temp.stale(), 'src/money.js', 'a worker in the same directory, for another project');
rollback to before;
select project_rename('shop', 'store');
select pg_temp.says('shop/other', '/srv/shop/src/money.js');
select is(pg_temp.stale(), 'src/money.js', 'a project may have another name by now');
rollback to before;

update entry set content = 'toCents() in /srv/shop/src/money.js truncates';
select is(pg_temp.stale(), null, 'a whole path is no other file, either');
select pg_temp.writes('shop', '/srv/shop', 'src/money.js');
select is(pg_temp.stale(), '/srv/shop/src/money.js', 'an entry that names it whole');
rollback to before;
update entry set content = 'toCents() in src/money.js truncates', tool_call_id = (select id from tool_calls limit 1);
select pg_temp.says('shop/shop', '/srv/shop/src/money.js');
select is(pg_temp.stale(), 'src/money.js', 'what an agent recorded by a call');

select * from finish();
rollback;
