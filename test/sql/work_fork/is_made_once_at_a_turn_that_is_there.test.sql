-- A fork is made once for each key, at any turn, of work that goes on or is over.
begin;
select plan(8);

select agent('{"tools": ["look"], "ledger_nudge_interval": 0, "elide_budget": 0}', '{"awareness": {"enabled": false}}');
-- Four turns of a source; a fork at the third.
create temporary table source as select * from work_submit('analyze', 'Find why the import is slow', '{"table": "t"}');
select take(id) from source;
select play('[
  [["look", "saw a"], ["finding", "The index is missing"]],
  [["step", "Looked"]],
  [["look", "saw d"]],
  [["decision", "Drop the table"]]]');
create function pg_temp.turn(p_n integer) returns uuid language sql as $$ select turn_id from request where n = p_n $$;
select take(work_fork(pg_temp.turn(3), 'Rather add the index', p_idempotency_key => 'once'));

select is((select id from work_fork(pg_temp.turn(3), 'Rather add the index', p_idempotency_key => 'once')), item(), 'a key makes one fork');
select throws_ok($$ select work_fork(pg_temp.turn(1), p_idempotency_key => 'once') $$, 'WL006', null, 'a key does not stand for a fork at another turn');
select throws_ok($$ select work_fork(pg_temp.turn(1), p_idempotency_key => '') $$, 'WL002', null, 'an empty string is not a key');
select throws_ok($$ select work_fork(gen_random_uuid()) $$, 'WL001', null, 'a fork at a turn that is not there is refused');
select is((select count(*) from v_fork_points where work_item_id = (select id from source)), 2::bigint, 'v_fork_points has steps and decisions');
select is((select turn_id from v_fork_points where work_item_id = (select id from source) and rank = 1), pg_temp.turn(3), 'the best place to fork is before a decision');
select from work_cancel((select id from source));
select isnt((select id from work_fork(pg_temp.turn(4))), null, 'work that is over can be forked');
select lives_ok($$ set constraints all immediate $$, 'every invariant of the tree holds');

select * from finish();
rollback;
