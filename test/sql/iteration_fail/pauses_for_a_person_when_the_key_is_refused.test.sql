begin;
select plan(4);

select agent();
select submit();
select drive();

select is((iteration_fail(item(), lease(), '{"class": "authentication", "message": "invalid x-api-key"}')) ->> 'kind', 'paused', 'the item pauses');
select is((focus_claim(item(), 'w')) ->> 'kind', 'not_due', 'nobody takes it up');
select is((select state from work_resume(item())), 'queued', 'until somebody resumes it');
select is((focus_claim(item(), 'w')) ->> 'kind', 'claimed', 'and it goes on where it was');

select * from finish();
rollback;
