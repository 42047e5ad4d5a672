-- An item is claimed when it is due, when a faculty accepts it and while it is not over.
begin;
select plan(5);

select agent();

select is((focus_claim((select id from work_submit('analyze', 'later', p_run_at => now() + interval '1 hour')), 'w')) ->> 'kind', 'not_due', 'an item of later is not due');
select submit('x', 'unknown');
select is(focus_claim(item(), 'w') ->> 'kind', 'unroutable', 'an item that no faculty accepts is unroutable');
select is((select state_reason from item), 'no faculty accepts work type "unknown"', 'an unroutable item says why');
select is((select id from v_unroutable), item(), 'v_unroutable shows it');
select from work_cancel(item());
select is(focus_claim(item(), 'w') ->> 'kind', 'finished', 'a finished item is not claimed');

select * from finish();
rollback;
