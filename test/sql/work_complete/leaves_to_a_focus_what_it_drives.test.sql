-- Between two iterations nobody holds the lease; the item is its focus's all the same.
begin;
select plan(6);

select agent('{"tools": ["look"]}');
select submit('Fix it');
select claim();
select throws_ok($$ select work_complete(item(), 'Done') $$, 'WL005', null, 'who has no lease does not complete what is being driven');
select begin_iteration(), answer('[["look"]]'), run(), iteration_finish(item(), lease());
select results_eq($$ select state, lease_hash, focus_id is not null from item $$, $$ values ('running', null::bytea, true) $$, 'between iterations nobody holds the lease');
select throws_ok($$ select work_complete(item(), 'Done') $$, 'WL005', null, 'between iterations nobody completes it without a lease');
select throws_ok($$ select work_fail(item(), 'No use') $$, 'WL005', null, 'between iterations nobody fails it without a lease');
select throws_ok($$ select spawn_child_work(item(), 'analyze', 'A part') $$, 'WL005', null, 'between iterations nobody delegates from it without a lease');
select is((select state from item), 'running', 'the work goes on');

select * from finish();
rollback;
