-- What a fork does is its own, and what its source does from there on is the source's.
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
select play('[[["look", "saw f"]], [["step", "Added the index"]], [["look", "saw h"]]]');

select results_eq('select seq, content from ledger_read(item(), null, 1)', $$ values (3, 'Added the index') $$, 'the ledger of a fork goes on with the next number');
select alike((select body::text from request where n = 7), '%completed step 1: Looked%completed step 2: Added the index%', 'blocks close in a fork');
select unalike((select body::text from request where n = 7), '%saw d%', 'blocks of a fork take what came before it with them');
select play('[[["look", "saw i"]]]', (select id from source));
select unalike((select body::text from request where n = 8), '%Added the index%', 'the source knows nothing of what the fork did');
select alike((select body::text from request where n = 8), '%Drop the table%', 'the source has what it did itself');
select is((select count(*) from v_findings where work_item_id = item()), 1::bigint, 'a finding from before the fork is in its ledger');
select is((select count(*) from regexp_matches(awareness_digest(null), 'index is missing', 'g')), 1::bigint, 'a finding from before the fork is news once');
select unalike(awareness_digest((select id from source)), '%index is missing%', 'a finding from before the fork is no news to the source');
select set_eq($$ select session_label from sessions_with_turn(pg_temp.turn(1)) $$,
  $$ select session_label from foci where work_item_id in (item(), (select id from source)) $$, 'sessions_with_turn has who shares a turn');
select is((select count(*) from v_calls_out_of_toolset), 0::bigint, 'nobody called a tool that it was not given');

select * from finish();
rollback;
