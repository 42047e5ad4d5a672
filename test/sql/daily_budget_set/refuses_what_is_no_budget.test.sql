-- A budget by day is of one project or one faculty, of a resource that is used by the day, and a number.
begin;
select plan(17);

select agent();
select faculty_save('{"name": "tester", "accepts": ["test"], "project": "shop"}');
select throws_ok($$ select daily_budget_set('tokens', 1) $$, 'WL002', 'a daily budget belongs to either a project or a faculty', 'of neither');
select throws_ok($$ select daily_budget_set('tokens', 1, 'shop', 'worker') $$, 'WL002', 'a daily budget belongs to either a project or a faculty', 'of both');
select throws_ok($$ select daily_budget_set('children', 1, 'shop') $$, 'WL002', '"children" is not a resource of a daily budget', 'children are not used by the day');
select throws_ok($$ select daily_budget_set('patience', 1, 'shop') $$, 'WL002', null, 'an unknown resource');
select throws_ok($$ select daily_budget_set(null, 1, 'shop') $$, 'WL002', null, 'no resource');
select throws_ok($$ select daily_budget_set('tokens', -1, 'shop') $$, 'WL002', null, 'below zero');
select throws_ok($$ select daily_budget_set('tokens', 'NaN', 'shop') $$, 'WL002', null, 'no number');
select throws_ok($$ select daily_budget_set('tokens', 'Infinity', 'shop') $$, 'WL002', null, 'no end');
select throws_ok($$ select daily_budget_set('tokens', 1, e'two\nlines') $$, 'WL002', null, 'a project of two lines');
select throws_ok($$ select daily_budget_set('tokens', 1, 'https://me:secret@github.com/acme/shop') $$, 'WL002', null, 'a project with a password');
select throws_ok($$ select daily_budget_set('tokens', 1, '') $$, 'WL002', null, 'a project without a name');
select throws_ok($$ select daily_budget_set('tokens', 1, p_faculty => e'nobody\n''; drop') $$, 'WL001', null, 'a faculty that is not there');
select throws_ok($$ select daily_budget_set('tokens', 1, p_faculty => 'tester') $$, 'WL001', 'there is no faculty "tester"', 'a project''s by its name alone');
select is((daily_budget_set('tokens', 1, p_faculty => 'tester@shop')).name, 'tester@shop', 'a project''s by both');
select is((daily_budget_set('calls', 0, repeat('ß', 500))).name, repeat('ß', 500), 'a long name');
select is((daily_budget_set('calls', 0, '%s "x" {1} <b>')).name, '%s "x" {1} <b>', 'one that means something elsewhere');
select take(work_submit('analyze', 'Fix it', p_project => '%s "x" {1} <b>')), drive();
select is((select state_reason from item), 'the budget of 0 calls a day of project "%s "x" {1} <b>" is used up: 0; it continues at midnight UTC', 'which is told as it is');

select * from finish();
rollback;
