-- Every agent that was told of an entry, or wrote it, is told with its next request that it was taken back; nobody else is.
begin;
select plan(9);

select agent('{"tools": ["look"]}', '{"awareness": {"refresh_every": 0}}');
select submit('First');
select play('[[["finding", "The moon is cheese"]], ["done"]]');
create temporary table first as select item() as id;
select submit('Told');
select play('[[["look"]]]');
create temporary table told as select item() as id;
create temporary table fork as select id from work_fork(turn());
create function pg_temp.newest() returns text language sql as $$ select (body -> 'messages' -> -1)::text from work_test.request order by n desc limit 1 $$;

select ledger_retract((select id from first), 1, 'It is rock');
select submit('Came later');
select play('[[["look"]]]');
select unalike(pg_temp.newest(), '%Taken back%', 'who came later was never told');

select work_test.take((select id from told));
select drive();
select alike(pg_temp.newest(), '%Taken back because it was wrong%entry 1, \\"The moon is cheese\\": It is rock%', 'who was told is told with the next request');
select is((select source::text || ' ' || (metadata ->> 'kind') from messages where turn_id = turn() and sequence = 790), 'engine retraction', 'by the engine');
-- A request that is given up has told nothing.
select iteration_fail(item(), lease(), '{"class": "server_error", "message": "x", "retry_after_seconds": 0}');
select later('1 hour');
select play('[[["look"]]]');
select alike(pg_temp.newest(), '%Taken back%', 'again, where the request was given up');
select play('[[["look"]]]');
select unalike(pg_temp.newest(), '%Taken back%', 'and once');
select is((select count(*) from messages where content::text ~ 'Taken back' and turn_id in (select id from turns where work_item_id = item() and status = 'completed')), 1::bigint, 'the request before stays as it was');

select work_test.take((select id from fork));
select play('[[["look"]]]');
select alike((select body from work_test.request order by n desc limit 1)::text, '%Taken back%', 'a fork of it, too');

select submit('Writes itself');
select play('[[["finding", "The sea is soup"]]]');
select ledger_retract(item(), 1, 'It is water');
select play('[[["look"]]]');
select alike(pg_temp.newest(), '%Taken back%your own entry 1, \\"The sea is soup\\": It is water%', 'who wrote it is told');
select play('[[["look"]]]');
select unalike(pg_temp.newest(), '%Taken back%', 'once');

select * from finish();
rollback;
