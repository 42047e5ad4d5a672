-- Erasing is refused for work that is not over, for a part of a tree, and for turns that a fork shares.
begin;
select plan(11);

select agent('{"tools": ["look"]}');
select submit('Root');
select play('[[["look"]]]');
select throws_ok($$ select work_erase(item()) $$, 'WL008', 'these have not ended: ' || item(), 'not what is under way');
select throws_ok($$ select work_erase(item(), p_is_dry_run => null) $$, 'WL002', 'p_is_dry_run must be true or false', 'nor by one who did not say whether it is to go');
select results_eq($$ select name from work_erase(item(), p_is_dry_run => true) where kind = 'not over' $$, array[item()::text], 'a dry run names it');

create temporary table fork as select id from work_fork(turn());
select play('[["done"]]');
select throws_ok($$ select work_erase(item()) $$, 'WL008', 'its turns are shared by forks: ' || (select id from fork), 'not what a fork shares');
select results_eq($$ select name from work_erase(item(), p_is_dry_run => true) where kind = 'fork' $$, array[(select id::text from fork)], 'a dry run names the fork');
select throws_ok($$ select work_erase(item(), p_with_forks => true) $$, 'WL008', 'these have not ended: ' || (select id from fork), 'with its forks only when they are over');
select from work_cancel((select id from fork));
select is((select count(*) from work_erase(item(), p_with_forks => true) where kind = 'item'), 2::bigint, 'then both go');
select is((select array_agg(distinct description) from work_items), '{[erased]}', 'for good');

create temporary table tree as select id from work_submit('analyze', 'Parent');
create temporary table child as select id from work_submit('analyze', 'Child', p_parent_id => (select id from tree));
select from work_cancel((select id from tree));
select throws_ok($$ select work_erase((select id from child)) $$, 'WL002', null, 'a part of a tree does not go alone: its parent quotes it');
select is((select count(*) from work_erase((select id from tree)) where kind = 'item'), 2::bigint, 'the tree goes as a whole');
select throws_ok($$ select work_erase(_uuidv7()) $$, 'WL001', null, 'what is not there cannot go');

select * from finish();
rollback;
