-- A response without calls completes the work, with what the model said.
begin;
select plan(4);

select agent();
select submit();
select drive();
select answer('["It is the index."]');

select is(iteration_finish(item(), lease()) ->> 'kind', 'completed', 'the work is completed');
select is((select outcome_data ->> 'summary' from item), 'It is the index.', 'the outcome is what the model said');
select is((select outcome from foci), 'completed', 'the focus has ended');
select throws_ok($$ update work_items set state = 'queued', resolved_at = null $$, 'WL003', null, 'a final state never changes');

select * from finish();
rollback;
