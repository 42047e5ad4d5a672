begin;
select plan(5);

select from faculty_save('{"name": "worker", "accepts": ["fix"], "awareness": {"enabled": false}}');
select from session_import(json_build_object('format', 'pi', 'sessionId', 's', 'prompt', 'Fix it', 'exchanges', json_build_array(
  json_build_object('text', 'I begin.', 'calls', json_build_array()),
  json_build_object('text', 'I look.', 'calls', json_build_array(json_build_object('id', 'a', 'name', 'bash', 'input', '{}'::json, 'result', 'HEAD' || repeat('a line of output. ', 1900000) || 'TAIL'))))));
create temporary table item as select * from work_fork((select id from turns where depth = 1), 'Go on', p_faculty => 'worker');
create temporary table held as select (focus_claim((select id from item), 'w') ->> 'lease')::uuid as lease;
create temporary table stage as select iteration_begin((select id from item), lease) as s from held;
select is((select s ->> 'kind' from stage), 'call_model', 'it goes on');
select matches((select s ->> 'request' from stage), 'HEAD.*artifact_read.*TAIL', 'with its head, its tail and a handle');
select results_eq($$ select starts_with(content, 'HEADa line'), right(content, 6), strpos(content, ' characters left out here]') > 16000000 from artifacts $$, $$ values (true, '. TAIL', true) $$, 'which is capped where it becomes an artifact');
select ok(artifact_read(substring((select s ->> 'request' from stage) from 'artifact_read\(\\"([0-9a-f]{16})'), 'c1-10') ~ '^HEADa line', 'and reads it');
select is(context_at((select (s ->> 'turn_id')::uuid from stage))::text, (select (s ->> 'request') from stage), 'the request can be rebuilt');

select * from finish();
rollback;
