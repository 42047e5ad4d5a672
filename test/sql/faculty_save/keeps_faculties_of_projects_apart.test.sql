-- A faculty is of a project or of the ledger: one of the same name of another project is another faculty.
begin;
select plan(16);

create function pg_temp.current() returns text[] language sql as $$ select array_agg(concat_ws('@', name, project) order by project nulls first) from v_faculties $$;
select is((select project from faculty_save('{"name": "engineer", "accepts": ["task"], "project": "/a"}')), '/a', 'it has the project that it names');
select from faculty_save('{"name": "engineer", "accepts": ["task"], "project": "/b"}');
select from faculty_save('{"name": "engineer", "accepts": ["task"]}');
select is(pg_temp.current(), '{engineer,engineer@/a,engineer@/b}', 'faculties of one name do not replace each other if they are of different projects, or of none');
select is((select count(distinct content_hash) from faculties), 3::bigint, 'their contents differ');
select from faculty_save('{"name": "engineer", "accepts": ["task"], "project": "/a", "persona": "Ada"}');
select is(pg_temp.current(), '{engineer,engineer@/a,engineer@/b}', 'in its project it is replaced');
select is((select config ->> 'persona' from v_faculties where project = '/a'), 'Ada', 'by the newer one');
select is((select project from faculty_save('{"name": "other", "project": ""}')), null, 'an empty project is none');
update faculties set is_current = false where name = 'other';

select from project_rename('/a', 'shop');
select is(pg_temp.current(), '{engineer,engineer@/b,engineer@shop}', 'a project takes its faculties along when it is renamed');
select is((select project from faculty_save('{"name": "engineer", "accepts": ["task"], "project": "/a", "persona": "Ada"}')), 'shop', 'saved by the old name it is of the new one');
select is((select array_agg(project order by project) from v_projects), '{/b,shop}', 'a project that only has a faculty is one, too');
select from faculty_save('{"name": "reader", "project": "/b"}');
select from project_rename('/b', 'shop');
select is(pg_temp.current(), '{engineer,engineer@shop,reader@shop}', 'where two projects become one, they have one faculty of each name');
select is((select config ->> 'persona' from v_faculties where name = 'engineer' and project = 'shop'), 'Ada', 'that of the project whose name stays');
select is((select count(*) from faculties where project = '/b'), 0::bigint, 'no faculty is left with a name that is no longer one');

select throws_ok($$ select faculty_save('{"name": "engineer@shop"}') $$, 'WL002', 'name must not contain @, which separates a faculty from its project where both are given', 'a name that would be a reference is refused');
select throws_ok($$ select faculty_save('{"name": "engineer", "project": "https://me:secret@github.com/acme/shop"}') $$, 'WL002', null, 'a project with a password, too');
select throws_ok($$ select faculty_save('{"name": "engineer", "project": " "}') $$, 'WL002', null, 'and a blank one');
select is((select array_agg(path::text || says) from faculty_problems('{"name": "a", "project": 7}')), array['{project}project must be a string, not 7'], 'one that is no text is told once');

select * from finish();
rollback;
