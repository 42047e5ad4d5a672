-- A directory that an item was submitted with goes before that of the faculty, for its attempts and its children.
begin;
select plan(8);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select from faculty_save('{"name": "builder", "accepts": ["build"], "engage": {"workspace": "host", "workspace_dir": "/elsewhere"}, "recover": {"max_attempts": 2}}');
select take(work_submit('build', 'Build it', p_workspace_dir => '/home/me/project'));
create function pg_temp.claimed(p_item uuid) returns jsonb language sql as $$
  select focus_claim(p_item, 'worker-1')
$$;
create temporary table held as select pg_temp.claimed(item()) as claim;
select is((select claim #>> '{faculty,engage,workspace_dir}' from held), '/home/me/project', 'the item''s directory goes before the faculty''s');
select is((select config #>> '{engage,workspace_dir}' from faculties f join foci o on o.faculty_hash = f.content_hash), '/elsewhere', 'the directory of the faculty stays what it was');

create temporary table child as
  select c.* from held, spawn_child_work(item(), 'build', 'A part of it', p_lease => (claim ->> 'lease')::uuid) c;
select is((select pg_temp.claimed(id) #>> '{faculty,engage,workspace_dir}' from child), '/home/me/project', 'a child works in the same directory');
create temporary table stray as
  select c.* from held, spawn_child_work(item(), 'paint', 'What nobody accepts', p_lease => (claim ->> 'lease')::uuid) c;
select is((select faculty from stray), 'builder', 'a child that nobody accepts is the same faculty''s');

select from faculty_save('{"name": "builder", "accepts": ["build"], "engage": {"workspace": "host", "workspace_dir": "/third"}}');
update foci set model_error_count = 19 where work_item_id = item();
select from held, iteration_fail(item(), (claim ->> 'lease')::uuid, '{"class": "transport", "message": "x"}');
set local work_ledger.now = '2026-11-20 13:00:00+00';
create temporary table again as select pg_temp.claimed(item()) as claim;
select is((select array[claim ->> 'attempt', claim #>> '{faculty,engage,workspace_dir}'] from again), array['2', '/home/me/project'], 'the next attempt works in the same directory');

select is((select pg_temp.claimed(id) #>> '{faculty,engage,workspace_dir}' from work_submit('build', 'Another one')), '/third', 'an item without one is where its faculty says');
select throws_ok($$ select work_submit('build', 'x', p_workspace_dir => 'here') $$, 'WL002', null, 'a relative directory is refused');
select throws_ok($$ select work_submit('build', 'x', p_workspace_dir => '') $$, 'WL002', null, 'an empty directory is refused');

select * from finish();
rollback;
