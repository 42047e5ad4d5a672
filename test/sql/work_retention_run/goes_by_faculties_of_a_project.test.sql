-- A policy for a faculty is for no other of its name: work of another project's is not erased by it.
begin;
select plan(15);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent();
select faculty_save(jsonb_build_object('name', 'worker', 'project', p, 'accepts', '["analyze"]'::jsonb)) from unnest('{shop,bank}'::text[]) p;
select faculty_save('{"name": "aide", "project": "shop", "accepts": ["part"]}');
create temporary table made as select n as project, (work_submit('analyze', 'Work of ' || n, p_project => nullif(n, 'none'))).id from unnest('{shop,bank,none}'::text[]) n;
select take(id), play('[["Done."]]') from made;
insert into made select n || ', unbegun', (work_submit('analyze', 'Never begun', p_faculty => 'worker', p_project => n)).id from unnest('{shop,bank}'::text[]) n;
select work_cancel(id) from made where project like '%unbegun';
select later('10 days');
create function pg_temp.due() returns text language sql as $$
  select string_agg(m.project, '; ' order by m.project) from jsonb_to_recordset(work_retention_run(true) -> 'due') d(root_id uuid) join made m on m.id = d.root_id
$$;
create function pg_temp.policies() returns text language sql as $$ select string_agg(faculty, ' ' order by faculty) from v_retention_policies $$;

select is((select faculty from retention_policy_save('1 day', p_faculty => 'worker')), 'worker', 'a name is that of the ledger''s faculty, if it has one');
select is(pg_temp.due(), 'none', 'whose policy is not for those of projects');
select from retention_policy_save(null, p_faculty => 'worker');
select is((select faculty from retention_policy_save('1 day', p_faculty => 'worker@shop')), 'worker@shop', 'a project''s is named with it');
select is(pg_temp.due(), 'shop; shop, unbegun', 'its policy is for its work, and what was submitted to it');
select is((select faculty from retention_policy_save('1 day', 'completed', 'aide')), 'aide@shop', 'a name that only one project has is that of its faculty');
select is((select faculty from retention_policy_save('1 day', 'completed', 'nobody')), 'nobody', 'one that nobody has stays');
update faculties set is_current = false where name = 'worker' and project is null;
select throws_ok($$ select retention_policy_save('1 day', p_faculty => 'worker') $$, 'WL002', 'several projects have a faculty "worker"', 'one that several have is refused');
select throws_ok($$ select retention_policy_save('1 day', p_faculty => 'worker@https://ann:secret@host') $$, 'WL002', null, 'so is what cannot be a project');

select from retention_policy_save('1 day', 'cancelled', 'worker@store');
select from project_rename('shop', 'store');
select is(pg_temp.policies(), 'aide@store nobody worker@store worker@store', 'a project takes its policies along when it is renamed');
select is(pg_temp.due(), 'shop; shop, unbegun', 'and they hold for the same work');
select from retention_policy_save('5 days', 'completed', 'aide@shop');
select is((select age from v_retention_policies where faculty = 'aide@store'), '5 days'::interval, 'by its earlier name, too');
select from retention_policy_save('100 days', p_faculty => 'worker@bank');
select from project_rename('store', 'bank');
select is(pg_temp.policies(), 'aide@bank nobody worker@bank worker@bank', 'where two become one, a policy of the one whose name stays is kept');
select is(pg_temp.due(), 'bank, unbegun; shop, unbegun', 'and holds for the work of both');
select from retention_policy_save(null, 'cancelled', 'worker@store');
select is(pg_temp.due(), null, 'a policy is taken away by an earlier name');
select from retention_policy_save(null, 'completed', 'nobody');
select is(pg_temp.policies(), 'aide@bank worker@bank', 'or by the name it is listed by');

select * from finish();
rollback;
