begin;
select plan(5);

select submit();

select throws_ok($$ select work_complete(item(), ' ') $$, 'WL002', null, 'it needs a summary');
select is((select state from work_complete(item(), 'Found it', '["tool call 7"]')), 'completed', 'an item that nobody drives can be completed by its agent');
select is((select outcome_data from work_items), '{"summary": "Found it", "evidence": ["tool call 7"]}'::jsonb, 'with its evidence');
select is((select state from work_complete(item(), 'Found it')), 'completed', 'saying so again is harmless');
select throws_ok($$ select work_fail(item(), 'changed my mind') $$, 'WL003', null, 'but final is final');

select * from finish();
rollback;
