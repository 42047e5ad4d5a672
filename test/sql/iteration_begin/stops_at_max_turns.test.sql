-- Work that reaches max_turns fails, and its item says so.
begin;
select plan(2);

select agent('{"max_turns": 1}');
select submit();
select play('[[["note", "hi"]]]');

select is(drive() ->> 'kind', 'failed', 'with max_turns = 1 there is no second turn');
select alike((select state_reason from item), 'reached max_turns (1)%', 'the reason names max_turns');

select * from finish();
rollback;
