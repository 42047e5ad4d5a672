-- The nine invariants of the design, each with an attempt to break it.
begin;
select plan(19);

create temporary table t as select null::integer as n, null::uuid as id limit 0;
with made as (insert into turns (status, completed_at) values ('completed', now()) returning id) insert into t select 1, id from made;
with made as (insert into turns (parent_turn_id, depth, status, completed_at) select id, 1, 'completed', now() from t returning id) insert into t select 2, id from made;
create function pg_temp.t(p_n integer) returns uuid language sql as $$ select id from t where n = p_n $$;
set constraints all immediate;
set constraints all deferred;

-- 1 append-only
select throws_ok('delete from turns', 'WL007', null, 'turns are never deleted');
select throws_ok('truncate turns cascade', 'WL007', null, 'nor truncated');
select throws_ok($$ update turns set model = 'other' where id = pg_temp.t(1) $$, 'WL007', null, 'one that is over is not rewritten');
select throws_ok('delete from sessions', 'WL007', null, 'sessions are marked, not deleted');
-- 2 tree integrity
select throws_ok('insert into turns (parent_turn_id, depth) values (gen_random_uuid(), 1); set constraints all immediate', '23503', null, 'a parent is there');
select throws_ok('insert into turns (depth) values (1)', '23514', null, 'a root has no depth');
select throws_ok('insert into turns (parent_turn_id, depth) values (pg_temp.t(2), 7); set constraints all immediate', 'WL007', null, 'a child is one deeper');
-- 3 a thread for each turn
select is((select count(*) from threads), (select count(*) from turns), 'every turn is a thread');
-- 4 sessions are pointers
select throws_ok($$ insert into sessions (label, head_turn_id) values ('x', gen_random_uuid()) $$, '23503', null, 'a head is a turn');
-- 5 messages are ordered
insert into messages (turn_id, sequence, role, content) values (pg_temp.t(1), 1, 'user', '[]');
select throws_ok($$ insert into messages (turn_id, sequence, role, content) values (pg_temp.t(1), 1, 'user', '[]') $$, '23505', null, 'two messages have two places');
select throws_ok($$ update messages set content = '["x"]' $$, 'WL007', null, 'and keep what they said');
-- 6 calls are resolved before the conversation goes on
insert into tool_calls (turn_id, ordinal, provider_id, tool_name, input, effect) values (pg_temp.t(2), 0, 'a', 'look', '{}', 'pure');
select throws_ok('insert into turns (parent_turn_id, depth) values (pg_temp.t(2), 2); set constraints all immediate', 'WL007', null, 'an open call holds the next turn');
update tool_calls set status = 'completed', result = '"seen"', is_error = false, completed_at = now();
select lives_ok('insert into turns (parent_turn_id, depth) values (pg_temp.t(2), 2); set constraints all immediate', 'a settled one does not');
set constraints all deferred;
select throws_ok($$ update tool_calls set result = '"other"' $$, 'WL007', null, 'a result is written once');
-- 7 the whole chain can be walked, compactions included
select is((select count(*) from turn_ancestry((select id from turns where depth = 2))), 3::bigint, 'from any turn to the root');
-- 8 a compaction has its details
insert into turns (parent_turn_id, depth, turn_type) values (pg_temp.t(2), 2, 'compaction');
select throws_ok($$ update turns set status = 'completed', completed_at = now() where turn_type = 'compaction'; set constraints all immediate $$, 'WL007', null, 'a compaction that is over has a row');
set constraints all deferred;
-- 9 every move is logged
insert into sessions (label) values ('main');
select throws_ok($$ update sessions set head_turn_id = pg_temp.t(1) where label = 'main'; set constraints all immediate $$, 'WL007', null, 'a head does not move unseen');
set constraints all deferred;
select lives_ok($$ select _session_advance('main', pg_temp.t(1)); set constraints all immediate $$, 'but by its function');
select throws_ok('delete from session_history', 'WL007', null, 'and the log stays');

select * from finish();
rollback;
