begin;
select plan(6);

select submit();

select is(state, 'queued', 'the item is queued') from item;
select is(work_type, 'analyze', 'it has its work type') from item;
select is(root_id, id, 'it is its own root') from item;
select is(priority, 0, 'its priority is 0') from item;
select is(max_attempts, null, 'the faculty decides how often it is tried') from item;
select ok(exists (select from work_items where id = item()), 'it is stored');

select * from finish();
rollback;
