-- A directory that the worker does not serve, or a hook function that it lacks, pauses the item before anything is asked of a model; nobody tries again until a person says so.
begin;
select plan(9);

select agent();
select submit();
select claim();

select is(iteration_fail(item(), lease(), '{"class": "workspace", "message": "/x is not served"}') ->> 'kind', 'paused', 'the item pauses');
select is((select state_reason from item), 'workspace: /x is not served', 'the item says why');
select is((select count(*)::integer from turns where work_item_id = item()), 0, 'no model was asked');
select is(focus_claim(item(), 'w') ->> 'kind', 'not_due', 'nobody takes it up');
select is((select state from work_resume(item())), 'queued', 'resumed, it is queued');
select is((select claim() ->> 'attempt'), '1', 'and goes on with the same attempt');

select is(iteration_fail(item(), lease(), '{"class": "hook", "message": "there is no guard"}') ->> 'kind', 'paused', 'a function that is missing pauses it, too');
select is((select state_reason from item), 'hook: there is no guard', 'the item says which');
select is(focus_claim(item(), 'w') ->> 'kind', 'not_due', 'and nobody goes on without it');

select * from finish();
rollback;
