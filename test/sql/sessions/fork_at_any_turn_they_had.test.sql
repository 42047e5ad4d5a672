-- A fork is a session that begins at a turn of another one; turns are shared, not copied.
begin;
select plan(7);

-- A tree: 1 – 2 – 3, and 4 below 2. The session "line" goes 1, 2, 3, back to 2, and to 4.
create temporary table t as select 1 as n, bare_turn() as id;
insert into t select 2, bare_turn(id) from t where n = 1;
insert into t select 3, bare_turn(id) from t where n = 2;
insert into t select 4, bare_turn(id) from t where n = 2;
create function pg_temp.t(p_n integer) returns uuid language sql as $$ select id from t where n = p_n $$;
select from session_create('line', pg_temp.t(1));
select from _session_advance('line', pg_temp.t(2));
select from _session_advance('line', pg_temp.t(3));
select from session_rollback('line', pg_temp.t(2)), _session_advance('line', pg_temp.t(4));
select from session_create('main');

select results_eq($$ select label, head_turn_id, parent_session_label, parent_turn_id from session_fork('line', pg_temp.t(2), 'other') $$,
  $$ values ('other', pg_temp.t(2), 'line', pg_temp.t(2)) $$, 'a fork begins at a turn of the past');
select is((select count(*) from turns), 4::bigint, 'a fork copies no turn');
select is((session_fork('line', pg_temp.t(3), 'lost')).head_turn_id, pg_temp.t(3), 'a fork begins at a turn that was left');
select throws_ok($$ select session_fork('main', pg_temp.t(1), 'x') $$, 'WL002', null, 'a fork at a turn that the session never had is refused');
select throws_ok($$ select session_fork('line', gen_random_uuid(), 'x') $$, 'WL001', null, 'a fork at no turn is refused');
select results_eq($$ select session_label, is_current from sessions_with_turn(pg_temp.t(3)) $$, $$ values ('line', false), ('lost', true) $$, 'sessions_with_turn has who had a turn, and who has it');
select set_eq($$ select session_label from sessions_with_turn(pg_temp.t(1)) $$, array['line', 'other', 'lost'], 'all sessions of a tree share its root');

select * from finish();
rollback;
