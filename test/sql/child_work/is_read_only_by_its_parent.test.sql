-- check_child_work() and await_child_work() tell a parent of its own children, and nobody of anything else.
begin;
select plan(7);

select agent();
create temporary table parent as select submit('Fix it') as id;
create temporary table child as select id from spawn_child_work((select id from parent), 'analyze', 'Look at the index');
create temporary table grandchild as select id from work_submit('analyze', 'Look at its pages', p_parent_id => (select id from child));
create temporary table stranger as select submit('Pay the invoices') as id;
select ledger_append((select id from stranger), 'note', 'The account number is 12345');
create function pg_temp.checked(p_by uuid, p_id uuid) returns text language sql as $$ select check_child_work(p_by, array[p_id])::text $$;

select alike(pg_temp.checked((select id from parent), (select id from child)), '%"state": "queued"%', 'a parent is told of its child');
select throws_ok(format('select check_child_work(%L, %L)', (select id from parent), array[(select id from stranger)]), 'WL002',
  format('%s is not a child of this work item', (select id from stranger)), 'work of others that exists is refused like work that does not');
select throws_ok(format('select check_child_work(%L, %L)', (select id from parent), array[(select id from child), (select id from stranger)]), 'WL002', null, 'a child beside it does not help');
select throws_ok(format('select await_child_work(%L, %L)', (select id from parent), array[(select id from stranger)]), 'WL002', null, 'nobody waits for work of others');
select throws_ok(format('select check_child_work(%L, %L)', (select id from parent), array[(select id from grandchild)]), 'WL002', null, 'a grandchild is its own parent''s');
select throws_ok(format('select check_child_work(%L, %L)', (select id from child), array[(select id from parent)]), 'WL002', null, 'a child is not told of its parent');
select throws_ok(format('select check_child_work(%L, %L)', (select id from parent), array[(select id from parent)]), 'WL002', null, 'nobody is a child of itself');

select * from finish();
rollback;
