-- explain_turn() says which blocks a request shows, how and why; context_cost() what the cuts brought.
begin;
select plan(3);

select agent('{"tools": ["look"], "elide_budget": 0}');
select submit('Fix it');

select play('[
  [["look", "a"]],
  [["step", "One"], ["look", "b"]],
  [["look", "c"]],
  [["look", "d"]]]');
select results_eq($$ select block, shown, turns from explain_turn((select turn_id from request where n = 4)) $$, $$ values (1, 'stub', 1), (2, 'verbatim', 2) $$, 'explain_turn says which block is shown how');
select alike((select why from explain_turn((select turn_id from request where n = 4)) where block = 1), 'closed; elided in iteration 3%', 'explain_turn says why a block is out');
select results_eq($$ select iteration, blocks, requests_since, input_before, input_after from context_cost(item()) $$,
  $$ values (3, '1', 2, 200::bigint, 300::bigint) $$, 'context_cost has what the elision brought');

select * from finish();
rollback;
