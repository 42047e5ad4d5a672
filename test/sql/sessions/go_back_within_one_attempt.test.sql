-- A branch begins at a turn that another focus made: its session has been there, but its agent has not.
begin;
select plan(6);

select agent('{"tools": ["look"]}');
select submit('Fix it'), play('[[["look"]]]');
create temporary table source as select turn() as turn;
select take(work_fork((select turn from source)));
create temporary table made (n integer, turn uuid);
select play('[[["look"]]]');
insert into made values (1, turn());
select play('[[["look"]]]');
insert into made values (2, turn());

select is((select head_turn_id from sessions where label = item()::text), (select turn from made where n = 2), 'the branch has turns of its own');
select is((session_rollback(item()::text, (select turn from made where n = 1))).head_turn_id, (select turn from made where n = 1), 'the branch goes back to a turn of its own');
select throws_ok($$ select session_rollback(item()::text, (select turn from source)) $$, 'WL002', 'that turn belongs to another attempt', 'a branch under way does not go back to the turn that it began at');
select is((select head_turn_id from sessions where label = item()::text), (select turn from made where n = 1), 'a session that is not taken back stays where it was');
select claim();
select throws_ok($$ select session_rollback(item()::text, (select turn from made where n = 1)) $$, 'WL008', null, 'a branch that a worker holds is not taken back');
select from work_cancel(item());
select is((session_rollback(item()::text, (select turn from source))).head_turn_id, (select turn from source), 'a branch that is over may go back to the turn that it began at');

select * from finish();
rollback;
