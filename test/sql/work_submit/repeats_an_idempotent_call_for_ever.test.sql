-- With an idempotency key work is submitted once, however long ago.
begin;
select plan(6);

create temporary table first as select * from work_submit('a', 'x', p_idempotency_key => 'k');
select from work_complete((select id from first), 'done');
select is((select id from work_submit('a', 'x', p_idempotency_key => 'k')), (select id from first), 'the same call returns the same item, finished or not');
select throws_ok($$ select work_submit('a', 'another', p_idempotency_key => 'k') $$, 'WL006', null, 'the key does not stand for another submission');
select is((select count(*) from work_items where idempotency_key = 'k'), 1::bigint, 'there is one item');

create temporary table part as select * from work_submit('a', 'part', p_parent_id => (select id from work_submit('a', 'whole')), p_idempotency_key => 'part');
select from work_complete((select id from part), 'done');
select from work_complete((select parent_id from part), 'done');
select is((select id from work_submit('a', 'part', p_parent_id => (select parent_id from part), p_idempotency_key => 'part')), (select id from part),
  'nor does it matter that the parent has ended since');
select throws_ok($$ select work_submit('a', 'part', p_parent_id => (select parent_id from part), p_idempotency_key => 'new') $$, 'WL003', null, 'a new child it gets no more');
select is((select count(*) from work_items where parent_id = (select parent_id from part)), 1::bigint, 'it has one');

select * from finish();
rollback;
