-- A block of an earlier attempt comes back by its number in a later one.
begin;
select plan(3);

select agent('{"tools": ["look"], "keep_budget": 0}');
select submit();
select play('[[["look", "seen in the first"]], [["step", "Looked"]], [["look", "seen after the step"]]]');
select give_up();
select later('1 hour');
select play('[[["look", "seen in the second"]]]');

select is((select attempt from foci where id = focus()), 2, 'a second attempt is under way');
select matches(recall_block(item(), 1), 'seen in the first', 'the first block of the first attempt comes back in the second');
select doesnt_match(recall_block(item(), 1), 'seen in the second', 'and holds nothing of the second');

select * from finish();
rollback;
