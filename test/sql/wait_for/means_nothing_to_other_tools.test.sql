-- A claim that is named in a call of another tool is not waited for, and stops no sweep.
begin;
select plan(4);

select agent('{"tools": ["look"]}');
select submit('Lead');
select play('[[["spawn_child_work", {"work_type": "analyze", "description": "Part"}]]]');
create temporary table child as select id from work_items where parent_id = item();
select drive(item()), answer(jsonb_build_array(jsonb_build_array(jsonb_build_array('await_child_work',
  jsonb_build_object('work_item_ids', array[id], 'claim', '', 'timeout_seconds', 3000))) -> 0), item()), run('[]', item()), iteration_finish(item(), lease(item()))
  from child;
select is((select state from work_items where id = item()), 'waiting', 'it waits for its child');
select lives_ok($$ select work_sweep() $$, 'a sweep goes on');
select count(*) from work_complete((select id from child), 'Done');
select is(_has_come(item()), true, 'what it waits for has come');
select is(_claim_place('file:README.md'), _claim_place('/srv/shop/README.md'), 'a file has one lock, however it is named');

select * from finish();
rollback;
