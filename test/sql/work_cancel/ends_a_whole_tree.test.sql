-- Cancelling an item ends all that hangs on it.
begin;
select plan(6);

select agent();

create temporary table root as select * from work_submit('analyze', 'root');
create temporary table child as select * from work_submit('analyze', 'child', p_parent_id => (select id from root));
create temporary table grandchild as select * from work_submit('analyze', 'grandchild', p_parent_id => (select id from child));
select drive(id) from child;
select is((select count(*) from work_cancel((select id from root), 'no longer wanted')), 3::bigint, 'all three items of the tree are ended');
select is((select count(*) from work_items where state = 'cancelled' and state_reason = 'no longer wanted'), 3::bigint, 'all three items of the tree have the reason');
select throws_ok($$ select ledger_append((select id from child), 'note', 'late', p_lease => lease((select id from child))) $$, 'WL003', null, 'nothing is written to a cancelled item');
select is((select status from turns), 'failed', 'no turn stays open');
select is((select outcome from foci), 'cancelled', 'no focus stays open');
select is((select count(*) from work_cancel((select id from root))), 0::bigint, 'cancelling again ends nothing');

select * from finish();
rollback;
