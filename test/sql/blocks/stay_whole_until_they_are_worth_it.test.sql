-- Closed blocks stay in the request until together they are larger than elide_budget.
begin;
select plan(3);

select agent('{"tools": ["look"], "elide_budget": 1500}');
select submit('Fix it');

select play(format('[
  [["look", "%s"]],
  [["step", "One"], ["look", "%s"]],
  [["step", "Two"], ["look", "z"]],
  [["look", "last"]]]', repeat('x', 2000), repeat('y', 2000))::jsonb);
select is((select count(*) from elisions where iteration = 3), 0::bigint, 'a closed block under the budget stays');
select is((select array[first_block, last_block] from elisions where iteration = 4), array[1, 2], 'over the budget all closed blocks leave at once');
select is(shape(4), 'user:text,text,text,text,text assistant:tool_use,tool_use user:tool_result,tool_result', 'two stubs and the riding exchange are left');

select * from finish();
rollback;
