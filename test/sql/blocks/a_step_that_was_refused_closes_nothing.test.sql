-- A step that the ledger refused closes no block.
begin;
select plan(2);

select agent('{"tools": ["look"], "elide_budget": 0}');
select submit('Fix it');

select play('[
  [["look", "a"]],
  [["step", "  "], ["look", "b"]],
  [["look", "c"]]]');
select is((select count(*) from elisions), 0::bigint, 'nothing is elided for a step that was refused');
select is(shape(3), 'user:text assistant:tool_use user:tool_result assistant:tool_use,tool_use user:tool_result,tool_result', 'the next request shows all exchanges');

select * from finish();
rollback;
