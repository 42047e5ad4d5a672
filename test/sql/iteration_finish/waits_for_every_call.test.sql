-- An iteration ends when every call of its response has.
begin;
select plan(4);

select agent();
select submit();
select drive();
select answer('[["note", "hi"]]');

select throws_ok($$ select iteration_finish(item(), lease()) $$, 'WL008', null, 'an iteration with an open call does not end');
select run();
select is(iteration_finish(item(), lease()) ->> 'kind', 'continued', 'when its calls have ended the iteration ends');
select is((select lease_hash from item), null, 'the lease of the item is free');
select throws_ok($$ select iteration_finish(item(), lease()) $$, 'WL004', null, 'the lease that was given back is lost');

select * from finish();
rollback;
