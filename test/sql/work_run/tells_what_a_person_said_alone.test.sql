-- What a client put around the words of a person in a recorded session stands beside them: the words alone are there, too, as in v_told.
begin;
select plan(3);

select from session_import('{"format": "claude-code", "sessionId": "s", "prompt": "Fix it\n<system-reminder>Be short</system-reminder>", "task": "Fix it\n<system-reminder>Be short</system-reminder>", "model": "m", "exchanges": [
  {"id": "a", "text": "I look.", "calls": [], "followUp": "<system-reminder>It is late</system-reminder>\nThe tests, too"},
  {"id": "b", "text": "Done.", "calls": [], "followUp": "And the docs"},
  {"id": "c", "text": "Done.", "calls": [], "followUp": "<system-reminder>Nothing else</system-reminder>"},
  {"id": "d", "text": "Done.", "calls": []}]}');

select results_eq(
  $$ select kind, data ->> 'said' from work_run((select id from work_items where external_id = 'import:claude-code:s')) where kind in ('task', 'person') $$,
  $$ values ('task', 'Fix it'), ('person', 'The tests, too'), ('person', null), ('person', null) $$,
  'where there is more than the words');
select results_eq(
  $$ select content from work_run((select id from work_items where external_id = 'import:claude-code:s')) where kind = 'person' $$,
  $$ values (E'<system-reminder>It is late</system-reminder>\nThe tests, too'), ('And the docs'), ('<system-reminder>Nothing else</system-reminder>') $$,
  'the content is whole');
select is((work_submit('analyze', E'Fix it\n<system-reminder>Be short</system-reminder>')).id in (
  select work_item_id from v_work_run where kind = 'task' and data ? 'said'), false, 'what was submitted is all said');

select * from finish();
rollback;
