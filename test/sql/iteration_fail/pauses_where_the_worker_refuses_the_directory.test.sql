-- A directory that the worker does not serve pauses the item before anything is asked of a model; nobody tries again until a person says so.
begin;
select plan(6);

select agent();
select submit();
select claim();

select is(iteration_fail(item(), lease(), '{"class": "workspace", "message": "/x is not served"}') ->> 'kind', 'paused', 'the item pauses');
select is((select state_reason from item), 'workspace: /x is not served', 'the item says why');
select is((select count(*)::integer from turns where work_item_id = item()), 0, 'no model was asked');
select is(focus_claim(item(), 'w') ->> 'kind', 'not_due', 'nobody takes it up');
select is((select state from work_resume(item())), 'queued', 'resumed, it is queued');
select is((select claim() ->> 'attempt'), '1', 'and goes on with the same attempt');

select * from finish();
rollback;
