-- Also of an item whose words are erased the same call returns the item: nothing is done twice because nobody knows any more what was said.
begin;
select plan(3);

create temporary table first as select * from work_submit('a', 'x', p_idempotency_key => 'k');
select from work_complete((select id from first), 'done');
select from work_erase((select id from first));
select is((select id from work_submit('a', 'x', p_idempotency_key => 'k')), (select id from first), 'the same call returns the item');
select throws_ok($$ select work_submit('b', 'x', p_idempotency_key => 'k') $$, 'WL006', null, 'not so work of another type');
select is((select count(*) from work_items where idempotency_key = 'k'), 1::bigint, 'there is one item');

select * from finish();
rollback;
