-- Several steps in one response close one block.
begin;
select plan(2);

select agent('{"tools": ["look"], "elide_budget": 0}');
select submit('Fix it');

select play('[
  [["look", "a"]],
  [["step", "First"], ["step", "Second"], ["look", "b"]],
  [["look", "c"]],
  [["step", "Third"]],
  [["look", "d"]]]');
select is(text_of(5, 0, 3), E'[completed step 1: First]\n[completed step 1: Second]', 'the stub of the block has both steps');
select is((select last_block from elisions where ordinal = 1), 1, 'one block is closed');

select * from finish();
rollback;
