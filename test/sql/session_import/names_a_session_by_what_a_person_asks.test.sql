-- A program may write what it says itself before the first prompt, and whoever follows its file reads that first.
begin;
select plan(6);

create function pg_temp.read(p_run text) returns json language sql as $$
  select session_import(('{"format": "codex", "exchanges": [], "isFollowed": true, ' || p_run || '}')::json)
$$;
create function pg_temp.named(p_session text) returns text language sql as $$
  select description from work_items where external_id = 'import:codex:' || p_session
$$;
select from pg_temp.read('"sessionId": "a", "cwd": "/shop", "prompt": "<skills>", "isPromptByHarness": true');
select is(pg_temp.named('a'), 'An interactive session in /shop', 'what the program says is no name');
select is((select task_description from sessions where label = 'codex:a'), null, 'nor a task');
select from pg_temp.read('"sessionId": "a", "cwd": "/shop", "prompt": "<skills> Mend it", "task": "Mend it"');
select is(pg_temp.named('a'), 'Mend it', 'the first prompt is');
select is((select task_description from sessions where label = 'codex:a'), 'Mend it', 'and it is the task');

-- Hooks open it and are told the prompt.
select from journal_session_open('b', null, '/shop');
select from pg_temp.read('"sessionId": "b", "cwd": "/shop", "prompt": "<skills>", "isPromptByHarness": true');
select journal_session_prompt(id, 'Mend it, too') is null from work_items where params ->> 'conversationId' = 'b';
select is(pg_temp.named('b'), 'Mend it, too', 'whoever says it first');

-- A record of which nothing more comes has nothing better.
select from session_import('{"format": "codex", "sessionId": "c", "prompt": "<skills>", "isPromptByHarness": true, "exchanges": []}');
select is(pg_temp.named('c'), '<skills>', 'one that is over is named by what there is');

select * from finish();
rollback;
