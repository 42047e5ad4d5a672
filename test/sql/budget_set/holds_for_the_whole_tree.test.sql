-- A child draws on the budgets of the items above it.
begin;
select plan(3);

select agent('{"ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
create temporary table parent as select * from work_submit('other', 'Delegate', p_budget => '{"children": 1, "tokens": 100}');
select take(c) from parent p, spawn_child_work(p.id, 'analyze', 'A part') c;

select throws_ok($$ select spawn_child_work((select id from parent), 'analyze', 'Another part') $$, 'WL009', null, 'a budget of children is their number');
select is(drive() ->> 'kind', 'parked', 'a child draws on its parent''s budget');
select matches((select state_reason from item), 'the budget of 100 tokens of work item ' || (select id from parent), 'the reason says whose budget it is');

select * from finish();
rollback;
