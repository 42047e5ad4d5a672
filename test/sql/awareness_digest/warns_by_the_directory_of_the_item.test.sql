-- Work of one faculty in two directories is not work on the same files.
begin;
select plan(2);

select tool('edit_file', 'unsafe', 'moderate');
select agent('{"workspace": "host", "workspace_dir": "/project", "tools": ["edit_file"]}');
create temporary table work as select n, (work_submit('analyze', 'Work ' || n, p_workspace_dir => d)).id from (values (1, null), (2, '/other'), (3, '/project')) v(n, d);
create function pg_temp.id(p_n integer) returns uuid language sql as $$ select id from work where n = p_n $$;
select play('[[["edit_file", {"path": "a.js"}]]]', id) from work;
select alike(awareness_digest(pg_temp.id(1)), '%Also working on your files:%a.js: [Worker/analyze] Work 3%', 'who works in the same directory is named');
select unalike(substring(awareness_digest(pg_temp.id(1)) from 'Also working.*?\n\n'), '%Work 2%', 'who works in another is not');

select * from finish();
rollback;
