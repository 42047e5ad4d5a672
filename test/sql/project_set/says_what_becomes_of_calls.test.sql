-- A setting of a project, by any of its names.
begin;
select plan(6);

select from work_submit('a', 'Work', p_project => 'shop');
select is((project_set('shop', 'refuse')).claims, 'refuse', 'it is set');
select is((select claims from v_projects where project = 'shop'), 'refuse', 'and shown');
select from project_rename('shop', 'store');
select is((project_set('shop', null)).name, 'store', 'by an earlier name it is the same project');
select is((select claims from v_projects), null, 'null: as each faculty says');
select throws_ok($$ select project_set('shop', 'no') $$, 'WL002', null, 'one of three words');
select throws_ok($$ select project_set(null, 'off') $$, 'WL002', null, 'of a project');

select * from finish();
rollback;
