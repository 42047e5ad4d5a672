-- A project has a new name at once, and becomes one with another, without a change to any item.
begin;
select plan(13);

create temporary table item as select * from work_submit('a', 'Old work', p_project => '/home/me/shop');
select throws_ok($$ select project_rename('nowhere', 'somewhere') $$, 'WL001', 'there is no project "nowhere"', 'a name that nothing has is refused');
select throws_ok($$ select project_rename('/home/me/shop', ' ') $$, 'WL002', null, 'a blank one, too');
select throws_ok($$ select project_rename(null, 'shop') $$, 'WL002', null, 'and none');
select lives_ok($$ select project_rename('/home/me/shop', 'shop') $$, 'it is renamed');
select is((select project from work_items where id = (select id from item)), '/home/me/shop', 'the item stays as it was submitted');
select is((select project from v_work_list where work_item_id = (select id from item)), 'shop', 'and is shown with the new name');
select is((select project from work_submit('a', 'By the old name', p_project => '/home/me/shop')), 'shop', 'the old name means the new one');
select from work_submit('a', 'Other work', p_project => 'github.com/acme/shop');
select from project_rename('/home/me/shop', 'github.com/acme/shop');
select is((select row(project, earlier_names, items)::text from v_projects), '(github.com/acme/shop,"{/home/me/shop,shop}",3)', 'renamed to another, it is one with it');
select is((select array_agg(n order by n) from unnest(_project_names('shop')) n), '{/home/me/shop,github.com/acme/shop,shop}', 'by all its names');
select from project_rename('github.com/acme/shop', 'shop');
select is((select row(project, earlier_names, items)::text from v_projects), '(shop,"{/home/me/shop,github.com/acme/shop}",3)', 'it can have an earlier name again');
select is((select count(*) from projects where renamed_to in (select name from projects where renamed_to is not null)), 0::bigint, 'no name leads to one that was renamed itself');
select lives_ok($$ select project_rename('shop', 'shop') $$, 'renamed to its own name it stays as it is');
select is((select count(*) from v_projects), 1::bigint, 'one project');

select * from finish();
rollback;
