-- An item is taken by a faculty of its project, else by one of the ledger's, never by one of another project.
begin;
select plan(19);

select from faculty_save('{"name": "engineer", "accepts": ["task"], "project": "a", "persona": "of a"}');
select from faculty_save('{"name": "architect", "accepts": ["task", "design"], "persona": "of all"}');
create function pg_temp.driver(p_project text, p_type text default 'task', p_faculty text default null) returns text language sql as $$
  select coalesce(says #>> '{faculty,persona}', says ->> 'kind') from claim(take(work_submit(p_type, 'Work', p_faculty => p_faculty, p_project => p_project))) says
$$;
select is(pg_temp.driver('a'), 'of a', 'a faculty of its project comes first, whatever its name');
select is(pg_temp.driver('b'), 'of all', 'work of another project is the ledger''s');
select is(pg_temp.driver(null), 'of all', 'work of no project, too');
select is(pg_temp.driver('a', 'design'), 'of all', 'as is what the project has nobody for');
select is(pg_temp.driver('a', 'other', 'architect'), 'of all', 'a faculty of the ledger can be asked for by name');
select is(pg_temp.driver('b', 'task', 'engineer'), 'unroutable', 'one of another project cannot');
select is((select state_reason from item), 'there is no faculty "engineer" except that of project "a", for work of that project', 'and the item says where it is');
select is((select array[waits_for, why] from v_queue where work_item_id = item()), '{faculty,"there is no faculty \"engineer\" except that of project \"a\", for work of that project"}', 'as the queue does');
select is((select array_agg(id) from v_unroutable), array[item()], 'it is unroutable');
select is((select says from work_ledger_doctor() where code = 'routing'), 'there is no faculty "engineer" except that of project "a", for work of that project', 'as the doctor says');

select from faculty_save('{"name": "engineer", "accepts": ["task"], "project": "b", "persona": "of b"}');
select is(claim() #>> '{faculty,persona}', 'of b', 'until its project has one');
select is(pg_temp.driver('a'), 'of a', 'that of the other project still is');
select from faculty_save('{"name": "engineer", "accepts": ["task"], "persona": "of all"}');
select is(pg_temp.driver('a', 'other', 'engineer'), 'of a', 'of two of one name that of the project is meant');
select is(pg_temp.driver('c', 'other', 'engineer'), 'of all', 'elsewhere the ledger''s');

-- Attempts under way, and children.
select is(pg_temp.driver('a'), 'of a', 'an attempt begins');
select iteration_release(item(), lease());
select from faculty_save('{"name": "engineer", "accepts": ["task"], "project": "a", "persona": "newer"}');
select is(claim() #>> '{faculty,persona}', 'of a', 'and goes on with the faculty that it began with');
create temporary table child as select * from spawn_child_work(item(), 'task', 'A part', p_lease => lease());
select is((select project from child), 'a', 'a child is of its project');
select is((select says #>> '{faculty,persona}' from claim((select id from child)) says), 'newer', 'and taken by its faculties');
select from project_rename('a', 'shop');
select is(pg_temp.driver('a'), 'newer', 'a project that is renamed keeps them');

select * from finish();
rollback;
