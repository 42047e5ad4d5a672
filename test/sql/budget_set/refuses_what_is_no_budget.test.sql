-- A budget is a number, not below zero, of a resource that there is.
begin;
select plan(10);

select agent(), submit();

select throws_ok($$ select budget_set(item(), 'patience', 1) $$, 'WL002', null, 'an unknown resource is refused');
select throws_ok($$ select budget_set(item(), 'tokens', -1) $$, 'WL002', null, 'an amount below zero is refused');
select throws_ok($$ select budget_set(item(), 'tokens', 'NaN') $$, 'WL002', null, 'an amount that is no number is refused');
select throws_ok($$ select budget_set(gen_random_uuid(), 'tokens', 1) $$, 'WL001', null, 'a budget of an item that is not there is refused');
select throws_ok($$ select work_submit('analyze', 'x', p_budget => '{"tokens": "many"}') $$, 'WL002', null, 'an amount that is a word is refused at submission');
select throws_ok($$ select work_submit('analyze', 'x', p_budget => '[1]') $$, 'WL002', null, 'a budget that names no resources is refused at submission');
select throws_ok($$ select faculty_save('{"name": "x", "budget": {"tokens": -5}}') $$, 'WL002', null, 'an amount below zero is refused in a faculty');
select throws_ok($$ select model_price_save('claude-sonnet-5-5', -1, 2) $$, 'WL002', null, 'a price below zero is refused');

select throws_ok($$ select budget_set(item(), 'tokens', null) $$, 'WL002', 'a budget of tokens must be a number, 0 or more, not null', 'null is named');
select throws_ok($$ select journal_cleanup(null) $$, 'WL002', 'p_older_than must be between 0 and 1,000 years, not null', 'as it is where an age is wanted');

select * from finish();
rollback;
