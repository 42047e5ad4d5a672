-- Work that is submitted without a type is of the only one that is accepted where it is, else a task.
begin;
select plan(8);

select is((work_submit(null, 'Nobody is there')).work_type, 'task', 'without faculties it is a task');
select faculty_save('{"name": "reviewer", "accepts": ["review"], "project": "shop"}');
select is((work_submit(null, 'In the shop', p_project => 'shop')).work_type, 'review', 'the only type that the project''s faculties accept');
select is((work_submit(null, 'Elsewhere', p_project => 'bar')).work_type, 'task', 'of another project it is not');
select is((work_submit(null, 'A part', p_parent_id => (select id from work_items where description = 'In the shop'))).work_type, 'review', 'a child is where its parent is');
select is((work_submit(null, 'Again', p_project => 'shop', p_idempotency_key => 'once')).work_type, 'review', 'with a key');
select faculty_save('{"name": "coder", "accepts": ["code", "fix"], "project": "shop"}');
select is((work_submit(null, 'In the shop', p_project => 'shop')).work_type, 'task', 'of several none is meant');
select is((work_submit(null, 'Again', p_project => 'shop', p_idempotency_key => 'once')).work_type, 'review', 'the same call returns the same item, whatever is accepted now');
select is((work_submit(null, 'For one', p_faculty => 'reviewer', p_project => 'shop')).work_type, 'review', 'that of the faculty that was asked for');

select * from finish();
rollback;
