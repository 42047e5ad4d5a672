begin;
select plan(33);

create function pg_temp.turn(p_parent uuid) returns uuid language sql as $$
  insert into turns (parent_turn_id, depth, status, completed_at, input_tokens, chain_tokens)
  select p_parent, coalesce((select depth + 1 from turns where id = p_parent), 0), 'completed', now(), 10,
         10 + coalesce((select chain_tokens from turns where id = p_parent), 0)
  returning id;
$$;
create temporary table t as select null::integer as n, null::uuid as id limit 0;
insert into t select 1, pg_temp.turn(null);
insert into t select 2, pg_temp.turn((select id from t where n = 1));
insert into t select 3, pg_temp.turn((select id from t where n = 2));
insert into t select 4, pg_temp.turn((select id from t where n = 2));
create function pg_temp.t(p_n integer) returns uuid language sql as $$ select id from t where n = p_n $$;

select results_eq($$ select label, head_turn_id, status, origin from session_create('main') $$, $$ values ('main', null::uuid, 'active', 'work-ledger') $$, 'a session begins with nothing');
select throws_ok($$ select session_create('main') $$, 'WL006', null, 'a label is taken once');
select throws_ok($$ select session_create(' ') $$, 'WL002', null, 'a label is no blank');
select throws_ok($$ select session_create('x', gen_random_uuid()) $$, 'WL001', null, 'a head is a turn');
select is((session_open('main')).label, 'main', 'opening finds a label');
select is((session_alias('person:anna', 'main', 'identity_promotion')).session_label, 'main', 'a session gets another name');
select is((session_open('person:anna')).label, 'main', 'opening finds an alias');
select is((session_find('nobody')).label, null, 'finding makes nothing');
select is((session_open('nobody')).label, 'nobody', 'opening does');
select throws_ok($$ select session_alias('nobody', 'main') $$, 'WL006', null, 'an alias never hides a session');
select throws_ok($$ select session_create('person:anna') $$, 'WL006', null, 'nor a session an alias');
select throws_ok($$ select session_alias('a', 'none') $$, 'WL001', null, 'an alias is of a session');
select throws_ok($$ select session_alias('a', 'main', 'because') $$, 'WL002', null, 'for a reason that is known');
select is((session_alias('person:anna', 'nobody')).session_label, 'nobody', 'an alias can move on');

select from session_create('line', pg_temp.t(1));
select from _session_advance('line', pg_temp.t(2));
select from _session_advance('line', pg_temp.t(3));
select is((session_rollback('line', pg_temp.t(2))).head_turn_id, pg_temp.t(2), 'back');
select is((session_rollback('line', pg_temp.t(3))).head_turn_id, pg_temp.t(3), 'and forward again');
select throws_ok($$ select session_rollback('line', pg_temp.t(4)) $$, 'WL002', null, 'but only to where it was');
select is((session_rollback('line', pg_temp.t(2))).head_turn_id, pg_temp.t(2), 'back once more');
select from _session_advance('line', pg_temp.t(4));
select results_eq($$ select turn_id from session_history where session_label = 'line' order by id $$,
  $$ select pg_temp.t(n) from unnest('{1, 2, 3, 2, 3, 2, 4}'::integer[]) n $$, 'every move is in the history');

select results_eq($$ select label, head_turn_id, parent_session_label, parent_turn_id from session_fork('line', pg_temp.t(2), 'other') $$,
  $$ values ('other', pg_temp.t(2), 'line', pg_temp.t(2)) $$, 'a fork begins at a turn of the past');
select is((select count(*) from turns), 4::bigint, 'and copies nothing');
select is((session_fork('line', pg_temp.t(3), 'lost')).head_turn_id, pg_temp.t(3), 'also at one that was left');
select throws_ok($$ select session_fork('main', pg_temp.t(1), 'x') $$, 'WL002', null, 'not at one that it never had');
select throws_ok($$ select session_fork('line', gen_random_uuid(), 'x') $$, 'WL001', null, 'nor at none');
select results_eq($$ select session_label, is_current from sessions_with_turn(pg_temp.t(3)) $$, $$ values ('line', false), ('lost', true) $$, 'who had a turn, and who has it');
select set_eq($$ select session_label from sessions_with_turn(pg_temp.t(1)) $$, array['line', 'other', 'lost'], 'all share the root');

alter table session_history disable trigger all; -- time passes
update session_history set changed_at = timestamptz '2026-01-01' + make_interval(days => r.n::integer) from (select id, row_number() over (order by id) as n from session_history where session_label = 'line') r where r.id = session_history.id;
select is(session_head_at('line', '2026-01-03 12:00'), pg_temp.t(2), 'the head at a time');
select is(session_head_at('line', '2026-01-04 12:00'), pg_temp.t(3), 'and later');
select is(session_head_at('line', '2025-01-01'), null, 'before its first there was none');

select results_eq($$ select id from turn_ancestry(pg_temp.t(4)) $$, $$ select pg_temp.t(n) from unnest('{1, 2, 4}'::integer[]) n $$, 'ancestry from the root');
select results_eq($$ select depth, total_tokens, is_leaf from threads where turn_id = pg_temp.t(2) $$, $$ values (1, 20::bigint, false) $$, 'a thread knows depth and tokens of its chain');
select is((session_archive('other')).status, 'archived', 'archived');
select throws_ok($$ select session_archive('other', 'gone') $$, 'WL002', null, 'in a way that is known');

select * from finish();
rollback;
