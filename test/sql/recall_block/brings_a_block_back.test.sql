-- A block that left the request is brought back whole, or the lines of it that hold a text.
begin;
select plan(6);

select agent('{"tools": ["look"], "elide_budget": 0}');
select submit('Fix it');

select play('[
  [["look", "the first line\nthe second line"]],
  [["step", "Looked"], ["look", "of the next block"]],
  [["look", "more"]]]');
select is(recall_block(item(), 1), E'> look\nresult:\nthe first line\nthe second line', 'a block is brought back whole');
select is(recall_block(item(), 1, 'SECOND'), E'2- result:\n3- the first line\n4: the second line', 'the lines of a block that hold a text are brought back, with the two around each');
select is(recall_block(item(), 1, 'nowhere'), 'no line of block 1 contains "nowhere"', 'a text that no line holds is told');
select unalike(recall_block(item(), 1), '%next block%', 'what rode with the step is not in the block that it closed');
select alike(recall_block(item(), 2), '%> ledger_append%of the next block%more', 'what rode with the step is in the next block');
select throws_ok($$ select recall_block(item(), 3) $$, 'WL002', 'there is no block 3', 'a block that is not there is an error');

select * from finish();
rollback;
