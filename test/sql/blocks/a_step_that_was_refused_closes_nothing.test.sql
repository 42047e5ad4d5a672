begin;
select plan(2);

select agent('{"tools": ["look"], "elide_budget": 0}');
select submit('Mend it');


select play('[
  [["look", "a"]],
  [["step", "  "], ["look", "b"]],
  [["look", "c"]]]');
select is((select count(*) from elisions), 0::bigint, 'nothing is elided');
select is(shape(3), 'user:text assistant:tool_use user:tool_result assistant:tool_use,tool_use user:tool_result,tool_result', 'all of it is shown');

select * from finish();
rollback;
