-- What no retry can help fails at once.
begin;
select plan(4);

select agent();
select submit();
select drive();

select is(iteration_fail(item(), lease(), '{"class": "invalid_request", "message": "bad"}') ->> 'kind', 'failed', 'an invalid request fails the work');
select is((select status from turns), 'failed', 'the turn of an invalid request has failed');
select is((select state from item), 'failed', 'the item of an invalid request has failed');
select is((select state_reason from item), 'invalid_request: bad', 'the reason is what the provider said');

select * from finish();
rollback;
