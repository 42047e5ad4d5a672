-- A session is named as people name it: by the item, the end of its id, a session, the id that it had elsewhere, a turn.
begin;
select plan(15);

select agent('{"tools": ["look"]}', '{"awareness": {"enabled": false}}');
select submit('Fix it');
select play('[[["look", "saw a"]], ["Done."]]');
create temporary table imported as
  select session_import('{"format": "codex", "sessionId": "s-1", "prompt": "Look", "cwd": "/there", "exchanges": [{"id": "x", "text": "I see"}]}') as i union all
  select session_import('{"format": "pi", "sessionId": "both", "prompt": "Look", "exchanges": [{"text": "I see"}]}') union all
  select session_import('{"format": "codex", "sessionId": "both", "prompt": "Look", "exchanges": [{"text": "I see"}]}');
create function pg_temp.at(p_session text) returns text language sql as $$ select record ->> 'turn_id' from session_export(p_session, 'work-ledger') where n = 1 $$;

select is(pg_temp.at(item()::text), (select turn_id::text from request where n = 2), 'by the item');
select is(pg_temp.at(right(item()::text, 12)), (select turn_id::text from request where n = 2), 'by the end of its id');
select is(pg_temp.at((select turn_id::text from request where n = 1)), (select turn_id::text from request where n = 1), 'by a turn');
select is(pg_temp.at('codex:s-1'), (select head_turn_id::text from sessions where label = 'codex:s-1'), 'by the session');
select is(pg_temp.at('s-1'), (select head_turn_id::text from sessions where label = 'codex:s-1'), 'by the id that it had elsewhere');
select from session_alias('mine', 'codex:s-1');
select is(pg_temp.at('mine'), (select head_turn_id::text from sessions where label = 'codex:s-1'), 'by another name');
select is((select record ->> 'cwd' from session_export('s-1', 'work-ledger') where n = 1), '/there', 'where it worked is known');
select throws_ok($$ select session_export('both', 'codex') $$, 'WL002', null, 'two that had the same id elsewhere are not confused');
select throws_ok($$ select session_export('nothing', 'codex') $$, 'WL001', null, 'there is no such session');
select throws_ok($$ select session_export(null, 'codex') $$, 'WL001', null, 'nor one without a name');
select throws_ok($$ select session_export(item()::text, 'emacs') $$, 'WL002', null, 'nor such a program');
select throws_ok($$ select session_export(item()::text, 'codex', 'here') $$, 'WL002', null, 'a directory is named whole');

-- Without turns there is the packet.
select submit('Round the sums');
select alike((select record #>> '{message,content}' from session_export(item()::text, 'claude-code') where n = 1), '%Work to continue (work item %Round the sums%', 'work without turns goes on with its packet');
select is((select record -> 'turn_id' from session_export(item()::text, 'work-ledger') where n = 1)::text, 'null', 'and has no turn to fork');

select from work_cancel(item());
select from work_erase(item());
select throws_ok($$ select session_export(item()::text, 'claude-code') $$, 'WL003', null, 'what is erased goes nowhere');

select * from finish();
rollback;
