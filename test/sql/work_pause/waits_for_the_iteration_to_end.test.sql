-- Work that is driven pauses at the end of its iteration; work that nobody drives at once.
begin;
select plan(11);

select agent();
select submit('Fix it');

select is((select state from work_pause(item(), 'not now')), 'paused', 'an item that nobody drives is paused at once');
select is((select state_reason from item), 'not now', 'a paused item has the reason');
select is(focus_claim(item(), 'w') ->> 'kind', 'not_due', 'a paused item is not driven');
select is((select state from work_resume(item())), 'queued', 'a paused item is queued when it is resumed');

select drive();
select ok((select is_pausing and state = 'running' from work_pause(item())), 'an item that is driven goes on to the end of its iteration');
select answer('[["note", "n"]]'), run();
select is(iteration_finish(item(), lease()) ->> 'kind', 'paused', 'the item is paused when the iteration is over');
select is((select (iteration, is_pausing) from item join foci f on f.id = focus_id), (1, false), 'the iteration that was running counts');
select is(focus_claim(item(), 'w') ->> 'state', 'paused', 'an item that paused under way is not driven');
select is((select state from work_resume(item())), 'queued', 'an item that paused under way is queued when it is resumed');
select is(focus_claim(item(), 'w') ->> 'iteration', '2', 'a resumed item goes on with the next iteration');
select from work_cancel(item());
select throws_ok($$ select work_pause(item()) $$, 'WL003', null, 'an item that is over is not paused');

select * from finish();
rollback;
