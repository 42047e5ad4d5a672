-- The limit on children is for an attempt: the next one may delegate again.
begin;
select plan(3);

select agent('{"max_children": 1}', '{"recover": {"max_attempts": 3}}');
select submit('Lead');
select claim();
select spawn_child_work(item(), 'analyze', 'Part 1', p_lease => lease());
select throws_ok($$ select spawn_child_work(item(), 'analyze', 'Part 2', p_lease => lease()) $$, 'WL002', 'this work item already has the maximum of 1 children', 'an attempt has as many children as it may');
select later('1 second'), give_up(), later('1 hour'), claim();
select lives_ok($$ select spawn_child_work(item(), 'analyze', 'Part 3', p_lease => lease()) $$, 'a second attempt delegates again');
select throws_ok($$ select spawn_child_work(item(), 'analyze', 'Part 4', p_lease => lease()) $$, 'WL002', 'this work item already has the maximum of 1 children', 'a second attempt has no more children than the first');

select * from finish();
rollback;
