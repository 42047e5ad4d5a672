-- In a recorded run what a person said first is the task, also where its program put something before; what was said next is a person's word.
begin;
select plan(2);

select from session_import('{"format": "codex", "sessionId": "s", "prompt": "Memory\n\nFix it\n\nSoon", "promptParts": [{"text": "Memory", "isByHarness": true}, {"text": "Fix it"}, {"text": "Soon"}], "task": "Fix it", "model": "m", "exchanges": [
  {"id": "a", "text": "I look.", "calls": [], "followUp": "The tests, too"},
  {"id": "b", "text": "Done.", "calls": []}]}');

select results_eq(
  $$ select kind, content from work_run((select id from work_items where external_id = 'import:codex:s')) where kind in ('task', 'person') $$,
  $$ values ('task', 'Fix it'), ('person', 'Soon'), ('person', 'The tests, too') $$,
  'the task once, then each word of the person');
select results_eq(
  $$ select told_by, text from v_told where work_item_id = (select id from work_items where external_id = 'import:codex:s') order by turn_id, sequence $$,
  $$ values ('person', 'Fix it'), ('person', 'Soon'), ('person', 'The tests, too') $$,
  'who was told what has it all');

select * from finish();
rollback;
