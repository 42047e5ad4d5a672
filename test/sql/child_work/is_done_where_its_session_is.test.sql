-- What a session of another program delegates is done in the directory of that session, by a faculty of its project.
begin;
select plan(9);

select from faculty_save('{"name": "engineer", "accepts": ["task"], "project": "a", "engage": {"workspace": "host", "workspace_dir": "/a"}}');
select from faculty_save('{"name": "engineer", "accepts": ["task"], "project": "b", "engage": {"workspace": "host", "workspace_dir": "/b"}}');
select from faculty_save('{"name": "boxed", "accepts": ["boxed"], "engage": {"workspace": "container", "workspace_dir": "/b"}}');
select take(journal_session_open('s1', 'Session', '/a/b', 'a'));
create function pg_temp.child(p_type text default 'task', p_description text default 'A part') returns work_items language sql as $$
  select * from spawn_child_work(item(), p_type, p_description)
$$;
create temporary table child as select * from pg_temp.child();
select is((select array[project, workspace_dir, workspace_dir_by::text] from child), array['a', '/a/b', session_user::text], 'a child is in the project and the directory of the session, as whoever delegates names it');
select is((select array[says #>> '{faculty,project}', says #>> '{faculty,engage,workspace_dir}', says #>> '{directory,path}'] from claim((select id from child)) says), '{a,/a/b,/a/b}', 'it is driven there, by the faculty of that project');
select is((select workspace_dir from spawn_child_work((select id from child), 'task', 'A part of it', p_lease => lease((select id from child)))), '/a/b', 'as is what it delegates');
select is((select workspace_dir from pg_temp.child('boxed')), null, 'a container has the files that its faculty names');
select is((select workspace_dir from pg_temp.child('nobody', 'For nobody')), null, 'what nobody takes yet is done where its faculty says');

-- A conversation that is no directory, and work that is no session.
select take(journal_session_open('s2', 'Session', null, 'b'));
select is((select workspace_dir from pg_temp.child()), null, 'a session whose directory is unknown names none');
select take(work_submit('task', 'Work', p_project => 'b'));
select is((select workspace_dir from pg_temp.child()), null, 'nor does other work');
select take(work_submit('task', 'Work there', p_project => 'b', p_workspace_dir => '/b/there'));
select is((select workspace_dir from pg_temp.child()), '/b/there', 'which hands on what it has');

-- Whose word a worker would not take: it is done where the faculty says, instead of not at all.
create role place_client login;
select from work_roles_create('place_t_');
grant place_t_client to place_client;
grant usage on schema work_test to public; grant execute on all functions in schema work_test to public; grant all on all tables in schema work_test to public;
set session authorization place_client;
select take(journal_session_open('s3', 'Session', '/a/c', 'a'));
select is((select array[project, workspace_dir] from pg_temp.child()), array['a', null], 'a client, whose directories only the roots of a worker can allow, names none by delegating');
reset session authorization;

select * from finish();
rollback;
