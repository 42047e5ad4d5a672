-- work_complete ends the work at the end of the batch of calls that it stands in.
begin;
select plan(3);

select agent();
select submit();
select drive();
select answer('[["work_complete", {"summary": "Fixed", "evidence": ["test run"]}], ["step", "Fixed it"]]'), run();

select is((select state from item), 'running', 'in the middle of the batch the work goes on');
select is(iteration_finish(item(), lease()) ->> 'kind', 'completed', 'at the end of the batch the work is completed');
select is((select outcome_data from item), '{"summary": "Fixed", "evidence": ["test run"]}'::jsonb, 'the outcome has summary and evidence');

select * from finish();
rollback;
