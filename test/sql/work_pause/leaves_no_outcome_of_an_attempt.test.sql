-- An attempt that ends while its item is to pause is not the end of the item: whoever delegated it is told of no outcome.
begin;
select plan(4);

select agent();
select submit('Fix it');
create temporary table child as select (spawn_child_work(item(), 'analyze', 'A part of it')).id;
select drive((select id from child));
select from work_pause((select id from child), 'until the freeze is over');
select give_up((select id from child));
select is((select state from work_items w, child c where w.id = c.id), 'paused', 'the child waits to be resumed');
select is((select outcome_data from work_items w, child c where w.id = c.id), null, 'it has no outcome');
select is(check_child_work(item(), array[(select id from child)]) -> 0 -> 'outcome', null, 'its parent is told of none');
select is_empty('select from inbox', 'nor that it has ended');

select * from finish();
rollback;
