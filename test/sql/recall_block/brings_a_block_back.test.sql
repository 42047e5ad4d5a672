begin;
select plan(6);

select agent('{"tools": ["look"], "elide_budget": 0}');
select submit('Mend it');


select play('[
  [["look", "the first line\nthe second line"]],
  [["step", "Looked"], ["look", "of the next block"]],
  [["look", "more"]]]');
select is(recall_block(item(), 1), E'> look {}\nthe first line\nthe second line', 'whole');
select is(recall_block(item(), 1, 'SECOND'), '3: the second line', 'or the lines that hold a text');
select is(recall_block(item(), 1, 'nowhere'), 'no line of block 1 holds "nowhere"', 'or a word that none does');
select unalike(recall_block(item(), 1), '%next block%', 'what rode with the step is not in it');
select alike(recall_block(item(), 2), '%> ledger_append%of the next block%more', 'it is in the next');
select throws_ok($$ select recall_block(item(), 3) $$, 'WL002', 'there is no block 3', 'a block that is not there is an error');

select * from finish();
rollback;
