-- What people said is kept word for word and apart from what their programs added to it.
begin;
select plan(5);

select from session_import('{"format": "pi", "sessionId": "s", "prompt": "Memory\n\nFix it", "promptParts": [{"text": "Memory", "isByHarness": true}, {"text": "Fix it"}], "task": "Fix it", "exchanges": [
  {"text": "one", "calls": [], "followUp": "Only the tests\n\nAnd hurry\n\na.ts has changed", "followUpParts": [{"text": "Only the tests"}, {"text": "And hurry"}, {"text": "a.ts has changed", "isByHarness": true}]},
  {"text": "two", "calls": [], "followUp": "a notice", "isFollowUpByHarness": true},
  {"text": "three", "calls": [], "followUp": "Thanks"},
  {"text": "four", "calls": []}]}');
select from session_import('{"format": "pi", "sessionId": "s#a", "parentSessionId": "s", "prompt": "Look", "exchanges": [{"text": "one", "calls": [], "followUp": "Go on"}, {"text": "two", "calls": []}]}');
create temporary table item as select id from work_items where external_id = 'import:pi:s';

select results_eq($$ select t.depth, m.source::text, m.content -> 0 ->> 'text' from messages m join turns t on t.id = m.turn_id where m.role = 'user' and t.work_item_id = (select id from item) order by t.depth, m.sequence $$,
  $$ values (0, 'event', 'Memory'), (0, 'human', 'Fix it'), (1, 'human', 'Only the tests'), (1, 'human', 'And hurry'), (1, 'event', 'a.ts has changed'), (2, 'event', 'a notice'), (3, 'human', 'Thanks') $$, 'each part of a prompt is a message, of who said it');
select alike(context_at((select id from turns where depth = 1 and work_item_id = (select id from item)))::text, '%"Memory"%"Fix it"%"one"%"Only the tests"%"And hurry"%"a.ts has changed"%', 'the model sees them all, in their order');
select is((select array_agg(content ->> 'message' order by sequence_num) from journal_read((select id from item)) where entry_type = 'user_feedback'), array['Only the tests', 'And hurry', 'Thanks'], 'the journal has every later prompt of a person');
select is((select content ->> 'originalPrompt' from journal_read((select id from item)) where entry_type = 'session_start'), 'Fix it', 'the journal begins with the first prompt of a person');
select is((select count(*) from work_journal j join work_items w on w.id = j.work_item_id where entry_type = 'user_feedback' and w.external_id = 'import:pi:s#a'), 0::bigint, 'what an agent told its subagent is no word of a person');

select * from finish();
rollback;
