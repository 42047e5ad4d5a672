-- The invariants 5 to 9 of the design, each with an attempt to break it: messages in order, calls settled, chains walkable, compactions with details, moves logged.
begin;
select plan(10);

create temporary table t as select 1 as n, bare_turn() as id;
insert into t select 2, bare_turn(id) from t;
create function pg_temp.t(p_n integer) returns uuid language sql as $$ select id from t where n = p_n $$;
set constraints all immediate;
set constraints all deferred;

-- 5 messages are ordered
insert into messages (turn_id, sequence, role, content) values (pg_temp.t(1), 1, 'user', '[]');
select throws_ok($$ insert into messages (turn_id, sequence, role, content) values (pg_temp.t(1), 1, 'user', '[]') $$, '23505', null, 'two messages of a turn have two places');
select throws_ok($$ update messages set content = '["x"]' $$, 'WL007', null, 'a message keeps what it said');
-- 6 calls are resolved before the conversation goes on
insert into tool_calls (turn_id, ordinal, provider_id, tool_name, input, effect) values (pg_temp.t(2), 0, 'a', 'look', '{}', 'pure');
select throws_ok('insert into turns (parent_turn_id, depth) values (pg_temp.t(2), 2); set constraints all immediate', 'WL007', null, 'an open call holds the next turn');
update tool_calls set status = 'completed', result = '"seen"', is_error = false, completed_at = now();
select lives_ok('insert into turns (parent_turn_id, depth) values (pg_temp.t(2), 2); set constraints all immediate', 'a settled call does not hold the next turn');
set constraints all deferred;
select throws_ok($$ update tool_calls set result = '"other"' $$, 'WL007', null, 'a result is written once');
-- 7 the whole chain can be walked, compactions included
select is((select count(*) from turn_ancestry((select id from turns where depth = 2))), 3::bigint, 'the chain is walked from any turn to the root');
-- 8 a compaction has its details
insert into turns (parent_turn_id, depth, turn_type) values (pg_temp.t(2), 2, 'compaction');
select throws_ok($$ update turns set status = 'completed', completed_at = now() where turn_type = 'compaction'; set constraints all immediate $$, 'WL007', null, 'a compaction that is over has its details');
set constraints all deferred;
-- 9 every move is logged
insert into sessions (label) values ('main');
select throws_ok($$ update sessions set head_turn_id = pg_temp.t(1) where label = 'main'; set constraints all immediate $$, 'WL007', null, 'a head does not move unseen');
set constraints all deferred;
select lives_ok($$ select _session_advance('main', pg_temp.t(1)); set constraints all immediate $$, 'a head moves by its function');
select throws_ok('delete from session_history', 'WL007', null, 'the log of moves stays');

select * from finish();
rollback;
