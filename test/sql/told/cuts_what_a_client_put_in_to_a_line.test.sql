-- What people told an agent is kept whole; what their client put in beside it is a line.
begin;
select plan(3);

select from session_import(json_build_object('format', 'claude-code', 'sessionId', 's', 'prompt', 'Fix it', 'model', 'm', 'tools', json_build_array('Read'), 'exchanges', json_build_array(
  json_build_object('id', 'a', 'text', 'one', 'calls', json_build_array(json_build_object('id', 'x', 'name', 'Read', 'input', json_build_object('file_path', 'a.ts'), 'result', 'a')), 'followUp', repeat('a file that changed ', 500), 'isFollowUpByHarness', true),
  json_build_object('id', 'b', 'text', 'two', 'calls', '[]'::json, 'followUp', repeat('a long word of a person ', 500)),
  json_build_object('id', 'c', 'text', 'three', 'calls', '[]'::json))));
create temporary table told as select t.* from _told((select head_turn_id from sessions where label = 'claude-code:s'), true) t;
select is((select char_length(said) from told where n = 1), 240, 'what nobody said is a line');
select is((select said from told where n = 2), repeat('a long word of a person ', 500), 'a person''s word is whole');
select matches(recall_block((select id from work_items), 1), repeat('a file that changed ', 100), 'the block has all of what the client put in');

select * from finish();
rollback;
