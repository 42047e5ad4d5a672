begin;
select plan(6);

select agent();

create temporary table root as select * from work_submit('analyze', 'root');
create temporary table child as select * from work_submit('analyze', 'child', p_parent_id => (select id from root));
create temporary table grandchild as select * from work_submit('analyze', 'grandchild', p_parent_id => (select id from child));
create temporary table held as select (focus_claim((select id from child), 'w') ->> 'lease')::uuid as lease;
select from iteration_begin((select id from child), (select lease from held));
select is((select count(*) from work_cancel((select id from root), 'no longer wanted')), 3::bigint, 'all three are ended');
select is((select count(*) from work_items where state = 'cancelled' and state_reason = 'no longer wanted'), 3::bigint, 'with the reason');
select throws_ok($$ select ledger_append((select id from child), 'note', 'late', p_lease => (select lease from held)) $$, 'WL003', null, 'nothing is written afterwards');
select is((select status from turns), 'failed', 'no turn stays open');
select is((select outcome from foci), 'cancelled', 'nor a focus');
select is((select count(*) from work_cancel((select id from root))), 0::bigint, 'cancelling again ends nothing');

select * from finish();
rollback;
