-- With an idempotency key work is submitted once, however long ago.
begin;
select plan(3);

create temporary table first as select * from work_submit('a', 'x', p_idempotency_key => 'k');
select from work_complete((select id from first), 'done');
select is((select id from work_submit('a', 'x', p_idempotency_key => 'k')), (select id from first), 'the same call returns the same item, finished or not');
select throws_ok($$ select work_submit('a', 'another', p_idempotency_key => 'k') $$, 'WL006', null, 'the key does not stand for another submission');
select is((select count(*) from work_items where idempotency_key = 'k'), 1::bigint, 'there is one item');

select * from finish();
rollback;
