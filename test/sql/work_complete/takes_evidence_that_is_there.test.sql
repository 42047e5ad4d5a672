-- Evidence is a call of this work, an artifact or words; a call shows nothing that is older than the last change.
begin;
select plan(11);

select tool('write', 'unsafe');
select agent('{"tools": ["look", "write"], "max_result_chars": 1000}');
select submit('Fix it');
-- What work_complete answers.
create function pg_temp.complete(p_evidence jsonb) returns text language plpgsql as $$
begin
  perform play(jsonb_build_array(jsonb_build_array(jsonb_build_array('work_complete', jsonb_build_object('summary', 'Done', 'evidence', p_evidence)))));
  return (select result #>> '{}' from tool_calls where turn_id = turn());
end
$$;
create function pg_temp.look(p_id text) returns void language sql as $$
  select drive(), answer(format('[{"type": "tool_use", "id": "%s", "name": "look", "input": {}}]', p_id)::jsonb), tool_call_settle(item(), lease(), call(p_id), repeat('all tests pass ', 100)), iteration_finish(item(), lease()) $$;

select pg_temp.look('toolu_00');
select play('[[["write", {"path": "a"}]]]');
select matches(pg_temp.complete('["toolu_00"]'), '^evidence "toolu_00 \(look\)" is older than the last change of a file', 'what was seen before the last change proves nothing');
select pg_temp.look('toolu_01');
select matches(pg_temp.complete('["toolu_02"]'), '^evidence "toolu_02" is neither a tool call of this work nor an artifact', 'a call that never was proves nothing');
select matches(pg_temp.complete('["deadbeefdeadbeef"]'), '^evidence "deadbeefdeadbeef"', 'an artifact that is not there proves nothing');
select matches(pg_temp.complete('[7]'), '^evidence must be an array of strings', 'evidence that is a number is refused');
select is((select state from item), 'running', 'work whose evidence is refused goes on');
select matches(pg_temp.complete(format('["toolu_01", "%s", "node --test"]', (select left(content_hash, 16) from artifacts))::jsonb), 'completed', 'calls and artifacts that are there are taken, and words');
select is((select state from item), 'completed', 'work whose evidence is taken is completed');
select results_eq($$ select evidence, tool_name, is_error, artifact_hash is not null from v_evidence order by 1 $$,
  $$ select * from (values ('toolu_01', 'look', false, false), ((select left(content_hash, 16)::text collate "default" from artifacts), null, null, true), ('node --test', null, null, false)) as v(a, b, c, d) order by 1 $$,
  'v_evidence has what the evidence is');

create temporary table other as select * from work_submit('by hand', 'Something else');
select throws_ok($$ select work_complete((select id from other), 'Done', '["toolu_01"]') $$, 'WL002', null, 'a call of other work is no evidence for this one');
select throws_ok($$ select work_complete((select id from other), 'Done', '{}') $$, 'WL002', null, 'evidence that is an object is refused');
select is((select state from work_complete((select id from other), 'Done', null)), 'completed', 'no evidence is needed');

select * from finish();
rollback;
