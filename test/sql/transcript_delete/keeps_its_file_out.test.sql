-- A session that was erased before it was read into work does not come back by the file that its program kept, nor do its subagents.
begin;
select plan(9);

create function pg_temp.import(p_session text, p_agent text default null, p_format text default 'claude-code') returns text language plpgsql as $$
begin
  perform session_import(json_build_object('format', p_format, 'sessionId', concat_ws('#', p_session, p_agent), 'prompt', 'Go',
    'parentSessionId', case when p_agent is not null then p_session end, 'exchanges', '[{"text": "x"}]'::json));
  return 'stored';
exception when sqlstate 'WL003' then
  return 'erased';
end $$;
select count(*) from unnest('{s,t,u}'::text[]) s, unnest(array[null, 'subagents/agent-a1']) a, lateral transcript_append('-home', s, a, '[{"secret": "x"}]', '{u1}');
select appended from transcript_append('-other', 'u', null, '[{}]', '{u1}');
select transcript_delete('-home', 's'), transcript_delete('-home', 't', 'subagents/agent-a1'), transcript_delete('-home', 'u');

select is(pg_temp.import('s'), 'erased', 'its file is not read');
select is(pg_temp.import('s', 'a2'), 'erased', 'nor that of a subagent which was never kept');
select is(pg_temp.import('t', 'a1'), 'erased', 'nor that of a subagent which was erased alone');
select is(array[pg_temp.import('t'), pg_temp.import('t', 'a2')], '{stored,stored}'::text[], 'whose session and siblings are');
select is(pg_temp.import('u'), 'stored', 'one that another scope has, too, is here');
select is(pg_temp.import('s', p_format => 'codex'), 'stored', 'another program''s session of that id is another one');

-- What its file or its hooks made before the transcript was read goes with it.
create temporary table made as select (session_import('{"format": "claude-code", "sessionId": "v", "prompt": "Go", "exchanges": [{"text": "secret"}]}') ->> 'work_item_id')::uuid as id
  union all select (session_import('{"format": "claude-code", "sessionId": "v#a1", "parentSessionId": "v", "prompt": "Go", "exchanges": [{"text": "secret"}]}') ->> 'work_item_id')::uuid
  union all select (journal_session_open('w')).id;
select count(*) from unnest('{v,w}'::text[]) s, lateral transcript_append('-home', s, null, '[{"secret": "x"}]', '{u1}');
select is((select count(*) from transcripts where session_id in ('v', 'w') and work_item_id is not null), 0::bigint, 'nobody read them');
select transcript_delete('-home', 'v'), transcript_delete('-home', 'w');
select is((select count(*) from made join work_items w using (id) where w.erased_at is not null), 3::bigint, 'and all that is known of them goes');
select is(pg_temp.import('v'), 'erased', 'for good');

select * from finish();
rollback;
