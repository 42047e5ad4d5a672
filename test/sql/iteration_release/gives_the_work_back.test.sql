-- A worker that gives its work back leaves it to another one at once.
begin;
select plan(3);

select agent();
select submit();
select drive(p_worker => 'worker-1');

select from iteration_release(item(), lease());
select is((select lease_hash from item), null, 'the lease of the item is free');
select is(focus_claim(item(), 'worker-2') ->> 'kind', 'claimed', 'another worker goes on at once');
select is((select crash_count from foci), 0, 'giving back is no crash');

select * from finish();
rollback;
