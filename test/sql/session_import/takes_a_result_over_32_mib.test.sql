-- A recorded result of over 32 MiB is cut where it becomes an artifact, and the session can be gone on with.
begin;
select plan(5);

select from faculty_save('{"name": "worker", "accepts": ["fix"], "awareness": {"enabled": false}}');
select from session_import(json_build_object('format', 'pi', 'sessionId', 's', 'prompt', 'Fix it', 'exchanges', json_build_array(
  json_build_object('text', 'I begin.', 'calls', json_build_array()),
  json_build_object('text', 'I look.', 'calls', json_build_array(json_build_object('id', 'a', 'name', 'bash', 'input', '{}'::json, 'result', 'HEAD' || repeat('a line of output. ', 1900000) || 'TAIL'))))));
select take(work_fork((select id from turns where depth = 1), 'Go on', p_faculty => 'worker'));
select drive();

select is(stage() ->> 'kind', 'call_model', 'the session goes on');
select matches(stage() ->> 'request', 'HEAD.*artifact_read.*TAIL', 'the request has head, tail and handle of the result');
select results_eq($$ select starts_with(content, 'HEADa line'), right(content, 6), strpos(content, ' characters left out here]') > 16000000 from artifacts $$, $$ values (true, '. TAIL', true) $$, 'the artifact of the result is capped');
select ok(artifact_read(substring(stage() ->> 'request' from 'artifact_read\(\\"([0-9a-f]{16})'), 'c1-10') ~ '^HEADa line', 'the handle reads the artifact');
select is(context_at(turn())::text, stage() ->> 'request', 'the request can be rebuilt');

select * from finish();
rollback;
