-- project_name() and cost_by() know a project by any of its names.
begin;
select plan(8);

select count(*) from work_submit('a', 'Old', p_project => '/home/me/shop');
select count(*) from project_rename('/home/me/shop', 'shop');
select is(project_name('/home/me/shop'), 'shop', 'an earlier name leads to the one of today');
select is((select renamed_to from project_rename('/home/me/shop', 'shop')), 'shop', 'renamed once more, it says the same');
select is(project_name('elsewhere'), 'elsewhere', 'one that nobody renamed is itself');
select is(project_name(null), null, 'no project has no name');
select throws_ok($$ select project_name('') $$, 'WL002', null, 'a blank is none');
select is_empty($$ select * from cost_by('project', null, '/home/me/shop') $$, 'cost_by() takes it');

-- What was set goes with the name, and does not stay behind.
select count(*) from project_set('shop', 'refuse');
select count(*) from project_rename('shop', 'store');
select count(*) from project_set('store', 'off');
select count(*) from project_rename('store', 'shop');
select is((select claims from v_projects where project = 'shop'), 'off', 'renamed back, it has what was set last');
create temporary table session as select * from journal_session_create('first', 'Sell it', p_project => 'shop');
select is((select project from journal_resume((select id from session), 'second')), 'shop', 'what goes on in another conversation is in the same project');

select * from finish();
rollback;
