-- A fork of a fork has in its conversation what the first one was told, and hears with its next request that it was taken back.
begin;
select plan(3);

select agent('{"tools": ["look"]}', '{"awareness": {"refresh_every": 0}}');
select submit('Finds');
create temporary table finder as select item() as id;
select play('[[["finding", "The moon is cheese"]], ["done"]]');
select submit('Is told');
select play('[[["look"]]]');
select alike(told(3), '%The moon is cheese%', 'the first conversation is told');
select take(work_fork(turn()));
select play('[[["look"]]]');
select take(work_fork(turn()));
select ledger_retract((select id from finder), 1, 'It is rock');

select play('[[["look"]], [["look"]]]');
select alike((select (body -> 'messages' -> -1)::text from request where n = 5), '%Taken back%The moon is cheese%It is rock%', 'a fork of its fork hears that it was taken back');
select unalike((select (body -> 'messages' -> -1)::text from request where n = 6), '%Taken back%', 'once');

select * from finish();
rollback;
