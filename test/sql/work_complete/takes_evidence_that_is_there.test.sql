begin;
select plan(11);

select agent('{"tools": ["look"], "max_result_chars": 1000}');
select submit('Mend it');
create temporary table held (lease uuid, turn uuid);
create function pg_temp.say(p_calls text) returns void language plpgsql as $$
begin
  delete from held;
  insert into held (lease) select (focus_claim(item(), 'w') ->> 'lease')::uuid;
  update held set turn = (iteration_begin(item(), lease) ->> 'turn_id')::uuid;
  perform turn_record(item(), (select lease from held), (select turn from held), format('{"stop_reason": "tool_use", "content": [%s]}', p_calls)::json);
  perform tool_call_settle(item(), (select lease from held), k.id, repeat('all tests pass ', 100)) from tool_calls k where k.turn_id = (select turn from held) and tool_name in ('look', 'write');
  perform tool_call_execute(item(), (select lease from held), k.id) from tool_calls k where k.turn_id = (select turn from held) and tool_name not in ('look', 'write');
  perform iteration_finish(item(), (select lease from held));
end
$$;
create function pg_temp.complete(p_evidence text) returns text language sql as $$
  select pg_temp.say(format('{"type": "tool_use", "id": "toolu_%s", "name": "work_complete", "input": {"summary": "Done", "evidence": %s}}', md5(random()::text), p_evidence));
  select result #>> '{}' from tool_calls where tool_name = 'work_complete' order by created_at desc limit 1;
$$;

select tool('write', 'unsafe');
select from faculty_save('{"name": "worker", "accepts": ["analyze"], "engage": {"tools": ["look", "write"], "max_result_chars": 1000}}');
select pg_temp.say('{"type": "tool_use", "id": "toolu_00", "name": "look", "input": {}}');
select pg_temp.say('{"type": "tool_use", "id": "toolu_0w", "name": "write", "input": {"path": "a"}}');
select matches(pg_temp.complete('["toolu_00"]'), '^evidence "toolu_00 \(look\)" is older than the last change of a file', 'what was seen before the last change proves nothing');
select pg_temp.say('{"type": "tool_use", "id": "toolu_01", "name": "look", "input": {}}');
select matches(pg_temp.complete('["toolu_02"]'), '^evidence "toolu_02" is neither a tool call of this work nor an artifact', 'a call that never was proves nothing');
select matches(pg_temp.complete('["deadbeefdeadbeef"]'), '^evidence "deadbeefdeadbeef"', 'nor an artifact');
select matches(pg_temp.complete('[7]'), '^evidence is an array of strings', 'nor a number');
select is((select state from work_items), 'running', 'and the work goes on');
select matches(pg_temp.complete(format('["toolu_01", "%s", "node --test"]', (select left(content_hash, 16) from artifacts))), 'completed', 'what is there is taken, and words');
select is((select state from work_items), 'completed', 'and the work is done');
select results_eq($$ select evidence, tool_name, is_error, artifact_hash is not null from v_evidence order by 1 $$,
  $$ select * from (values ('toolu_01', 'look', false, false), ((select left(content_hash, 16)::text collate "default" from artifacts), null, null, true), ('node --test', null, null, false)) as v(a, b, c, d) order by 1 $$,
  'the evidence can be looked at');

create temporary table other as select * from work_submit('by hand', 'Something else');
select throws_ok($$ select work_complete((select id from other), 'Done', '["toolu_01"]') $$, 'WL002', null, 'a call of other work is no evidence for this one');
select throws_ok($$ select work_complete((select id from other), 'Done', '{}') $$, 'WL002', null, 'nor is an object');
select is((select state from work_complete((select id from other), 'Done', null)), 'completed', 'none is needed');

select * from finish();
rollback;
