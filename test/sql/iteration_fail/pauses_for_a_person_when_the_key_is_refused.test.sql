-- A refused API key pauses the item until somebody resumes it.
begin;
select plan(4);

select agent();
select submit();
select drive();

select is(iteration_fail(item(), lease(), '{"class": "authentication", "message": "invalid x-api-key"}') ->> 'kind', 'paused', 'a refused key pauses the item');
select is(focus_claim(item(), 'w') ->> 'kind', 'not_due', 'nobody takes a paused item up');
select is((select state from work_resume(item())), 'queued', 'resumed, the item is queued');
select is(focus_claim(item(), 'w') ->> 'kind', 'claimed', 'a resumed item is claimed');

select * from finish();
rollback;
