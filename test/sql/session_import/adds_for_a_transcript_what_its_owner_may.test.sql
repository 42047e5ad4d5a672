-- A worker reads the transcripts of all into turns: none becomes part of a session that somebody else than its owner imported.
begin;
select plan(6);

create temporary table made as select * from work_roles_create(format('t%s_', pg_backend_pid()));
do $$ begin execute format('create role t_ann; create role t_bob; create role t_boss; create role t_host; grant %1$I to t_ann, t_bob; grant %2$I to t_boss; grant %3$I to t_host',
  (select role from made where kind = 'client'), (select role from made where kind = 'admin'), (select role from made where kind = 'worker')); end $$;
create temporary table me as select session_user as name;
grant select on me to public;

-- What is read for a worker of a transcript of session p_id, as another exchange than the first.
create function pg_temp.read(p_id text, p_parent text default null) returns json language sql as $$
  select json_build_object('format', 'claude-code', 'sessionId', coalesce(p_parent || '#' || 'a1', p_id), 'parentSessionId', p_parent, 'prompt', 'Read on', 'exchanges', json_build_array(
           json_build_object('id', p_id || '/2', 'text', 'Added')),
         'transcript', json_build_object('projectKey', 'p', 'sessionId', coalesce(p_parent, p_id), 'subpath', case when p_parent is null then '' else 'subagents/agent-a1' end))
$$;

set local session authorization t_ann;
select from session_import('{"format": "claude-code", "sessionId": "one", "prompt": "Ann asks", "exchanges": [{"id": "one/1", "text": "Answered"}]}');
set local session authorization t_bob;
select from transcript_append('p', 'one', null, '[{"type": "user"}]', '{u1}');
select from transcript_append('p', 'one', 'subagents/agent-a1', '[{"type": "user"}]', '{u2}');
select from transcript_append('p', 'two', null, '[{"type": "user"}]', '{u3}');
set local session authorization t_host;
select throws_ok($$ select session_import(pg_temp.read('one')) $$, '42501', null, 'that of another is not added to the session of one');
select throws_ok($$ select session_import(pg_temp.read('x', 'one')) $$, '42501', null, 'nor put below it, as a subagent''s');
select lives_ok($$ select session_import(pg_temp.read('two')) $$, 'one of their own is read');
set local session authorization t_boss;
select from transcript_append('q', 'one', null, '[{"type": "user"}]', '{u4}');
set local session authorization t_host;
select lives_ok($$ select session_import((pg_temp.read('one')::jsonb || '{"transcript": {"projectKey": "q", "sessionId": "one", "subpath": ""}}')::json) $$,
  'that of an administrator, who may write to the work of everybody, is');
reset session authorization;

select is((select count(*) from turns t join work_items w on w.id = t.work_item_id where w.external_id = 'import:claude-code:one'), 2::bigint, 'once');
select is((select w.submitted_by from work_items w where w.external_id = 'import:claude-code:two'), 't_bob', 'a session of their own is theirs');

select * from finish();
rollback;
