-- An item that no focus drives is completed by whoever does its work.
begin;
select plan(5);

select submit();

select throws_ok($$ select work_complete(item(), ' ') $$, 'WL002', null, 'completing without a summary is refused');
select is((select state from work_complete(item(), 'Found it', '["tool call 7"]')), 'completed', 'an item that nobody drives can be completed by its agent');
select is((select outcome_data from item), '{"summary": "Found it", "evidence": ["tool call 7"]}'::jsonb, 'the outcome has summary and evidence');
select is((select state from work_complete(item(), 'Found it')), 'completed', 'completing again is harmless');
select throws_ok($$ select work_fail(item(), 'changed my mind') $$, 'WL003', null, 'a completed item does not fail');

select * from finish();
rollback;
