-- A fork is the same task, queued, with the conversation and the ledger as they were at a turn; from there on it is its own.
begin;
select plan(10);

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

select results_eq('select work_type, description, params, state, source::text, ledger_count from item',
  $$ values ('analyze', 'Find why the import is slow', '{"table": "t"}'::jsonb, 'queued', 'human', 2) $$, 'a fork is the same task, queued');
select results_eq('select seq, entry_type::text, content from ledger_read(item())', $$ values (1, 'finding', 'The index is missing'), (2, 'step', 'Looked') $$, 'a fork has the ledger as it was then');

select play('[[["look", "saw f"]]]');
select is((select parent_turn_id from turns where id = pg_temp.turn(5)), pg_temp.turn(3), 'the turns up to the fork are shared');
select is((select depth from turns where id = pg_temp.turn(5)), 3, 'no turn is copied');
select is((select focus_id is distinct from (select focus_id from turns where id = pg_temp.turn(3)) from turns where id = pg_temp.turn(5)), true, 'a fork has a focus of its own');
select is((select f.body #>> '{messages,0,content,0}' from request f where n = 5), (select s.body #>> '{messages,0,content,0}' from request s where n = 4), 'the task is the one of the source');
select alike((select body::text from request where n = 5), '%completed step 1: Looked%', 'blocks that were closed stay closed in a fork');
select alike((select body::text from request where n = 5), '%saw d%', 'the last result before the fork is there');
select alike((select body::text from request where n = 5), '%You are on a branch%Files and the outside world were not reset%Rather add the index%', 'a fork is told where it is, and what is wanted');
select unalike((select body::text from request where n = 5), '%Drop the table%', 'what came later in the source is not there');

select * from finish();
rollback;
