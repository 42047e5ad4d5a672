begin;
select plan(29);

select agent('{"tools": ["look"], "ledger_nudge_interval": 0, "elide_budget": 0}', '{"awareness": {"enabled": false}}');
select take(work_submit('analyze', 'Find why the import is slow', '{"table": "t"}'));
create temporary table made (n integer, turn uuid);
create function pg_temp.turn(p_item uuid, p_content text) returns uuid language plpgsql as $$
declare
  v_lease uuid := (focus_claim(p_item, 'w') ->> 'lease')::uuid;
  v_turn uuid := (iteration_begin(p_item, v_lease) ->> 'turn_id')::uuid;
begin
  perform turn_record(p_item, v_lease, v_turn, format('{"stop_reason": "tool_use", "content": [%s], "usage": {"input_tokens": 1000, "output_tokens": 10}}', p_content)::json);
  perform tool_call_settle(p_item, v_lease, k.id, 'saw ' || k.provider_id) from tool_calls k where k.turn_id = v_turn and tool_name = 'look';
  perform tool_call_execute(p_item, v_lease, k.id) from (select id from tool_calls where turn_id = v_turn and tool_name <> 'look' order by ordinal) k;
  perform iteration_finish(p_item, v_lease);
  return v_turn;
end
$$;
create function pg_temp.look(p_id text) returns text language sql as $$ select format('{"type": "tool_use", "id": "%s", "name": "look", "input": {}}', p_id) $$;
create function pg_temp.entry(p_id text, p_type text, p_content text) returns text language sql as $$
  select format('{"type": "tool_use", "id": "%s", "name": "ledger_append", "input": {"entry_type": "%s", "content": "%s"}}', p_id, p_type, p_content) $$;

insert into made select 1, pg_temp.turn(id, concat_ws(',', pg_temp.look('a'), pg_temp.entry('b', 'finding', 'The index is missing'))) from item;
insert into made select 2, pg_temp.turn(id, pg_temp.entry('c', 'step', 'Looked')) from item;
insert into made select 3, pg_temp.turn(id, pg_temp.look('d')) from item;
insert into made select 4, pg_temp.turn(id, pg_temp.entry('e', 'decision', 'Drop the table')) from item;

create temporary table fork as select * from work_fork((select turn from made where n = 3), 'Rather add the index', p_idempotency_key => 'once');
select results_eq(
  'select work_type, description, params, state, source::text, ledger_count from fork',
  $$ values ('analyze', 'Find why the import is slow', '{"table": "t"}'::jsonb, 'queued', 'human', 2) $$, 'the same task, queued');
select is((select id from work_fork((select turn from made where n = 3), 'Rather add the index', p_idempotency_key => 'once')), (select id from fork), 'once a key');
select throws_ok($$ select work_fork((select turn from made where n = 1), p_idempotency_key => 'once') $$, 'WL006', null, 'and for one turn');
select results_eq(
  'select seq, entry_type::text, content from ledger_read((select id from fork))', $$ values (1, 'finding', 'The index is missing'), (2, 'step', 'Looked') $$,
  'the ledger as it was then');

insert into made select 5, pg_temp.turn(id, pg_temp.look('f')) from fork;
select is((select parent_turn_id from turns where id = (select turn from made where n = 5)), (select turn from made where n = 3), 'the turns up to there are shared');
select is((select depth from turns where id = (select turn from made where n = 5)), 3, 'and nothing is copied');
create temporary table request as select context_at(turn)::jsonb as r, context_at((select turn from made where n = 4))::jsonb as other from made where n = 5;
select is((select r -> 'messages' -> 0 -> 'content' -> 0 from request), (select other -> 'messages' -> 0 -> 'content' -> 0 from request), 'the task is the one of the source');
select alike((select r::text from request), '%completed step 1: Looked%', 'closed blocks stay closed');
select alike((select r::text from request), '%saw d%', 'the last result is there');
select alike((select r::text from request), '%You are on a branch%Files and the outside world were not taken back%Rather add the index%', 'it is told where it is, and what is wanted');
select unalike((select r::text from request), '%Drop the table%', 'what came later is not there');
select is((select focus_id is distinct from (select focus_id from turns where id = (select turn from made where n = 3)) from turns where id = (select turn from made where n = 5)), true, 'a focus of its own');

insert into made select 6, pg_temp.turn(id, pg_temp.entry('g', 'step', 'Added the index')) from fork;
insert into made select 7, pg_temp.turn(id, pg_temp.look('h')) from fork;
select results_eq('select seq, content from ledger_read((select id from fork), null, 1)', $$ values (3, 'Added the index') $$, 'the ledger goes on with the next number');
select alike((select context_at(turn)::text from made where n = 7), '%completed step 1: Looked%completed step 2: Added the index%', 'blocks close on the branch');
select unalike((select context_at(turn)::text from made where n = 7), '%saw d%', 'and take what came before the fork with them');
insert into made select 8, pg_temp.turn(id, pg_temp.look('i')) from item;
select unalike((select context_at(turn)::text from made where n = 8), '%Added the index%', 'the source knows nothing of it');
select alike((select context_at(turn)::text from made where n = 8), '%Drop the table%', 'and has what it did');
select is((select count(*) from v_findings where work_item_id in (select id from fork)), 1::bigint, 'a finding is in the branch''s ledger');
select is((select count(*) from regexp_matches(awareness_digest(null), 'index is missing', 'g')), 1::bigint, 'but it is news once');

select from turn_workspace_set((select turn from made where n = 8), 'commit 3f2a');
create temporary table second as select * from work_fork((select turn from made where n = 8), p_faculty => 'worker');
insert into made select 9, pg_temp.turn(id, pg_temp.look('j')) from second;
select alike((select context_at(turn)::text from made where n = 9), '%The files as they were at this point: commit 3f2a%', 'a fork says where the files are');
select throws_ok($$ select turn_workspace_set((select turn from made where n = 8), 'other') $$, 'WL007', null, 'said once');
select throws_ok($$ select turn_workspace_set(gen_random_uuid(), 'other') $$, 'WL001', null, 'of a turn that is there');

select throws_ok($$ select work_fork(gen_random_uuid()) $$, 'WL001', null, 'a turn that is there');
select from work_cancel(item());
select isnt((select id from work_fork((select turn from made where n = 8))), null, 'work that is over can be forked');
select lives_ok($$ set constraints all immediate $$, 'every invariant of the tree holds');
select set_eq(
  $$ select session_label from sessions_with_turn((select turn from made where n = 1)) $$,
  $$ select session_label from foci where work_item_id in (select id from item union select id from fork union select id from second) $$, 'who shares a turn is known');
select is((select count(*) from v_fork_points where work_item_id = item()), 2::bigint, 'steps and decisions are places to fork');
select is((select turn_id from v_fork_points where work_item_id = item() and rank = 1), (select turn from made where n = 3), 'the best is before a decision');
select is((select count(*) from v_calls_out_of_toolset), 0::bigint, 'nobody called what he was not given');

select * from finish();
rollback;
