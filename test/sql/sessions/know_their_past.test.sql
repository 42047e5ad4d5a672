-- Where a session was at a time, what is above a turn, and what is put away.
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

alter table session_history disable trigger all; -- time passes
update session_history set changed_at = timestamptz '2026-01-01' + make_interval(days => r.n::integer) from (select id, row_number() over (order by id) as n from session_history) r where r.id = session_history.id;
select is(session_head_at('line', '2026-01-03 12:00'), pg_temp.t(2), 'a session had its second turn on the second day');
select is(session_head_at('line', '2026-01-04 12:00'), pg_temp.t(3), 'a session had its third turn on the third day');
select is(session_head_at('line', '2025-01-01'), null, 'before its first turn a session had none');
select results_eq($$ select id from turn_ancestry(pg_temp.t(4)) $$, $$ select pg_temp.t(n) from unnest('{1, 2, 4}'::integer[]) n $$, 'the ancestry of a turn comes from the root');
select results_eq($$ select depth, total_tokens, is_leaf from threads where turn_id = pg_temp.t(2) $$, $$ values (1, 20::bigint, false) $$, 'a thread knows depth and tokens of its chain');
select is((session_archive('line')).status, 'archived', 'a session is put away');
select throws_ok($$ select session_archive('line', 'gone') $$, 'WL002', null, 'an unknown way to put a session away is refused');

select * from finish();
rollback;
