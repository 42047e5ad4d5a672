-- An attempt has as many children as its faculty allows, and no more.
begin;
select plan(2);

select agent('{"max_children": 2}');
select submit('Lead');
select claim();
select lives_ok($$ select spawn_child_work(item(), 'analyze', 'Part ' || n, p_lease => lease()) from generate_series(1, 2) n $$, 'two of two are delegated');
select throws_ok($$ select spawn_child_work(item(), 'analyze', 'Part 3', p_lease => lease()) $$, 'WL002', 'this work item already has the maximum of 2 children', 'a third one is refused');

select * from finish();
rollback;
