-- A session can be set back to any turn where it was, and every move is in its history.
begin;
select plan(5);

-- A tree: 1 – 2 – 3, and 4 below 2. The session "line" goes 1, 2, 3, back to 2, and to 4.
create temporary table t as select 1 as n, bare_turn() as id;
insert into t select 2, bare_turn(id) from t where n = 1;
insert into t select 3, bare_turn(id) from t where n = 2;
insert into t select 4, bare_turn(id) from t where n = 2;
create function pg_temp.t(p_n integer) returns uuid language sql as $$ select id from t where n = p_n $$;
select from session_create('line', pg_temp.t(1));
select from _session_advance('line', pg_temp.t(2));
select from _session_advance('line', pg_temp.t(3));

select is((session_rollback('line', pg_temp.t(2))).head_turn_id, pg_temp.t(2), 'a session goes back');
select is((session_rollback('line', pg_temp.t(3))).head_turn_id, pg_temp.t(3), 'a session goes forward again');
select throws_ok($$ select session_rollback('line', pg_temp.t(4)) $$, 'WL002', null, 'a session does not go where it never was');
select is((session_rollback('line', pg_temp.t(2))).head_turn_id, pg_temp.t(2), 'a session goes back once more');
select from _session_advance('line', pg_temp.t(4));
select results_eq($$ select turn_id from session_history where session_label = 'line' order by id $$,
  $$ select pg_temp.t(n) from unnest('{1, 2, 3, 2, 3, 2, 4}'::integer[]) n $$, 'every move is in the history');

select * from finish();
rollback;
