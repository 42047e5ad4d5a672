-- Agents that work on the same file, one of them changing it, hear of each other.
begin;
select plan(11);

select tool('edit_file', 'unsafe', 'moderate');
select tool('read_file');
create temporary table work as select v.name, (work_submit(v.name, 'Work ' || v.name)).id from (values ('here', '/project'), ('beside', '/project'), ('elsewhere', '/other')) v(name, directory)
 cross join lateral faculty_save(jsonb_build_object('name', v.name, 'accepts', array[v.name], 'awareness', '{"refresh_every": 1, "include_child_work": true}'::jsonb,
   'engage', jsonb_build_object('ledger_nudge_interval', 0, 'workspace', 'host', 'workspace_dir', v.directory, 'tools', array['edit_file', 'read_file'])));
create function pg_temp.id(p_name text) returns uuid language sql as $$ select id from work where name = p_name $$;
-- One iteration that touches a file; whom its request warned of.
create function pg_temp.touch(p_name text, p_tool text, p_path text) returns text language plpgsql as $$
begin
  perform play(jsonb_build_array(jsonb_build_array(jsonb_build_array(p_tool, jsonb_build_object('path', p_path), 'done'))), pg_temp.id(p_name));
  return (select string_agg(m.m[1], '|') from request, regexp_matches(body::text, 'Also working on your files:\\n(.*?)\\n(?:\\n|</data)', 'g') m(m) where n = (select max(n) from request));
end
$$;

select is(pg_temp.touch('here', 'edit_file', 'src/a.js'), null, 'nobody is warned before anybody named a file');
select is(pg_temp.touch('elsewhere', 'edit_file', 'src/a.js'), null, 'the same name in another directory is another file');
select is(pg_temp.touch('beside', 'read_file', './src/a.js'), null, 'at its start an agent has no file yet');
select is(pg_temp.touch('here', 'read_file', 'src/b.js'), '- src/a.js: [Beside/beside] Work beside', 'who changes a file hears of who reads it');
select is(pg_temp.touch('beside', 'read_file', 'src/b.js'), '- src/a.js: [Here/here] Work here', 'who reads a file hears of who changes it');
select is(pg_temp.touch('here', 'read_file', 'src/c.js'), '- src/a.js: [Beside/beside] Work beside', 'a warning is said once (it is the old one still in the request), and a file that both read is none');
select is(pg_temp.touch('beside', 'edit_file', 'src/b.js'), '- src/a.js: [Here/here] Work here', 'who begins to change a file was not warned of it before');
select is((select array_agg(content order by content) from v_awareness_shown where kind = 'same file' and reader_id = pg_temp.id('here')), array['src/a.js'], 'v_awareness_shown has who was told of which file');
select alike(pg_temp.touch('here', 'read_file', 'src/c.js'), '%- src/b.js: [Beside/beside]%', 'a file that somebody else begins to change is news');
select alike(awareness_digest(pg_temp.id('here')), E'== AWARENESS ==\n\nAlso working on your files:\n- src/a.js: [Beside/beside] Work beside\n- src/b.js: %', 'in the digest the same files come first');
select from work_cancel(pg_temp.id('beside'));
select unalike(awareness_digest(pg_temp.id('here')), '%on your files%', 'nobody is warned of work that is over');

select * from finish();
rollback;
