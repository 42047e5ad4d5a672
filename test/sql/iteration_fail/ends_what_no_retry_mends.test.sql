begin;
select plan(4);

select agent();
select submit();
select drive();

select is((iteration_fail(item(), lease(), '{"class": "invalid_request", "message": "bad"}')) ->> 'kind', 'failed', 'an invalid request');
select is((select status from turns), 'failed', 'its turn failed');
select is((select state from work_items), 'failed', 'the item failed');
select is((select state_reason from work_items), 'invalid_request: bad', 'with its reason');

select * from finish();
rollback;
