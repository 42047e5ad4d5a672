-- work_submit() returns the item, queued.
begin;
select plan(6);

select submit();

select is(state, 'queued', 'the item is queued') from item;
select is(work_type, 'analyze', 'the item has its work type') from item;
select is(root_id, id, 'the item is its own root') from item;
select is(priority, 0, 'the priority of the item is 0') from item;
select is(max_attempts, null, 'the faculty decides how often it is tried') from item;
select ok(exists (select from work_items where id = item()), 'the item is stored');

select * from finish();
rollback;
