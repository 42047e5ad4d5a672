-- The invariants 1 to 4 of the design, each with an attempt to break it: turns are append-only and a tree, threads follow, sessions point.
begin;
select plan(9);

create temporary table t as select 1 as n, bare_turn() as id;
insert into t select 2, bare_turn(id) from t;
create function pg_temp.t(p_n integer) returns uuid language sql as $$ select id from t where n = p_n $$;
set constraints all immediate;
set constraints all deferred;

-- 1 append-only
select throws_ok('delete from turns', 'WL007', null, 'turns are never deleted');
select throws_ok('truncate turns cascade', 'WL007', null, 'turns are never truncated');
select throws_ok($$ update turns set model = 'other' where id = pg_temp.t(1) $$, 'WL007', null, 'a turn that is over is not rewritten');
select throws_ok('delete from sessions', 'WL007', null, 'sessions are marked, not deleted');
-- 2 tree integrity
select throws_ok('insert into turns (parent_turn_id, depth) values (gen_random_uuid(), 1); set constraints all immediate', '23503', null, 'a parent that is not there is refused');
select throws_ok('insert into turns (depth) values (1)', '23514', null, 'a root has depth 0');
select throws_ok('insert into turns (parent_turn_id, depth) values (pg_temp.t(2), 7); set constraints all immediate', 'WL007', null, 'a child is one deeper than its parent');
-- 3 a thread for each turn
select is((select count(*) from threads), (select count(*) from turns), 'every turn is a thread');
-- 4 sessions are pointers
select throws_ok($$ insert into sessions (label, head_turn_id) values ('x', gen_random_uuid()) $$, '23503', null, 'a head that is no turn is refused');

select * from finish();
rollback;
