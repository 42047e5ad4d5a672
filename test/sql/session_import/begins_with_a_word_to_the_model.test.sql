-- A recorded run that holds no prompt, and an empty summary where its context was compacted, is gone on with by a valid request.
begin;
select plan(3);

select agent('{"elide_budget": 0}', '{"awareness": {"enabled": false}}');
create temporary table run as select session_import(json_build_object('format', 'codex', 'sessionId', 's', 'prompt', '', 'model', 'claude-opus-4-6', 'exchanges', json_build_array(
  json_build_object('id', 'a', 'text', 'I look.', 'calls', '[]'::json),
  json_build_object('id', 'b', 'text', 'Done.', 'compactSummary', E' \n', 'calls', '[]'::json)))) as made;
select take((work_fork((select head_turn_id from sessions where label = 'codex:s'), 'Go on', 'worker')).id);
select drive();

select is(shape(1), 'user:text assistant:text,text user:text,text', 'the first message is a user''s');
select is((select string_agg(block ->> 'text', '|' order by i) from (select block, i from blocks(1) order by i limit 3) b), '(The record has no prompt.)|I look.|Done.', 'it says that there is no prompt; an empty summary replaces nothing');
select is((select m.source from messages m join turns t on t.id = m.turn_id where t.external_id = 'codex:a' and m.role = 'user'), 'event', 'and nobody is said to have said it');

select * from finish();
rollback;
