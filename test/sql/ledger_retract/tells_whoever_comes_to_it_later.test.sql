-- What was taken back between a turn and a fork from it is told to the fork; what an attempt takes back of an earlier one is told to it.
begin;
select plan(4);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent('{"tools": ["look"]}', '{"awareness": {"refresh_every": 0}}');
create function pg_temp.newest() returns text language sql as $$ select (body -> 'messages' -> -1)::text from work_test.request order by n desc limit 1 $$;
create temporary table finder as select submit('Finds') as id;
select play('[[["finding", "The moon is cheese"]], ["done"]]');
select submit('Is told');
select play('[[["look"]]]');
create temporary table told as select turn() as id;
select later('1 hour');
select ledger_retract((select id from finder), 1, 'It is rock');
select later('1 hour');
select take(work_fork((select id from told)));
select play('[[["look"]]]');
select alike(pg_temp.newest(), '%Taken back%The moon is cheese%', 'a fork from before hears what was taken back before it was made');

select submit('Tries twice');
select play('[[["finding", "The sea is soup"]]]');
select give_up(), later('1 hour');
select play('[[["look"]]]');
select alike(pg_temp.newest(), '%The sea is soup%', 'the next attempt reads what the first one found');
select ledger_retract(item(), 1, 'It is water');
select play('[[["look"]]]');
select alike(pg_temp.newest(), '%Taken back%your own entry 1, \\"The sea is soup\\"%', 'and hears that it was taken back');
select play('[[["look"]]]');
select unalike(pg_temp.newest(), '%Taken back%', 'once');

select * from finish();
rollback;
