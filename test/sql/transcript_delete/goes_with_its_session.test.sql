-- With the work of a session go the transcripts of its subagents, read into work or not; a subagent's own work takes only its own.
begin;
select plan(11);

create function pg_temp.read_in(p_session text, p_agent text default null) returns uuid language sql as $$
  select (session_import(json_build_object('format', 'claude-code', 'sessionId', concat_ws('#', p_session, p_agent), 'parentSessionId', case when p_agent is not null then p_session end,
    'prompt', 'Go', 'exchanges', '[]'::json, 'transcript', json_build_object('projectKey', '-home', 'sessionId', p_session, 'subpath', 'subagents/' || p_agent))) ->> 'work_item_id')::uuid
$$;
create function pg_temp.left_of(p_session text) returns text[] language sql as $$
  select array(select t.subpath || case when t.deleted_at is null then ' here' else '' end || case when e.seq is not null then ' with entries' else '' end
                 from transcripts t left join transcript_entries e on e.transcript_id = t.id where t.session_id = p_session order by t.subpath, t.project_key)
$$;
set local work_ledger.now = '2026-01-01';
select count(*) from unnest('{s,t,u}'::text[]) s, unnest(array[null, 'subagents/read', 'subagents/unread']) a, lateral transcript_append('-home', s, a, '[{"secret": "x"}]', '{u1}');
select appended from transcript_append('-other', 's', null, '[{}]', '{u1}');
create temporary table item as select s, pg_temp.read_in(s) as id, pg_temp.read_in(s, 'read') as agent from unnest('{s,t,u}'::text[]) s;
select journal_session_status(id, 'completed') from item;

select is((select row_count from work_erase((select id from item where s = 's'), p_is_dry_run => true) where name = 'transcript_entries'), 3::bigint, 'all three are counted');
select count(*) from work_erase((select id from item where s = 's'));
select is(pg_temp.left_of('s'), array['', ' here with entries', 'subagents/read', 'subagents/unread'], 'and go; that of another key stays');
select is((select erased_at from work_items where id = (select agent from item where s = 's')), null, 'what a subagent''s was read into is work of its own');
select throws_ok($$ select transcript_append('-home', 's', 'subagents/unread', '[{}]', '{u2}') $$, 'WL003', null, 'nothing is appended to them');
select throws_ok($$ select pg_temp.read_in('s', 'unread') $$, 'WL003', null, 'nor are they read');

select count(*) from work_erase((select agent from item where s = 't'));
select is(pg_temp.left_of('t'), array[' here with entries', 'subagents/read', 'subagents/unread here with entries'], 'a subagent''s own work takes its own');

-- By policy, which waits for the subagents, too.
select retention_policy_save('10 days');
set local work_ledger.now = '2026-01-08';
select journal_session_open('w');
select appended from transcript_append('-home', 'w', null, '[{}]', '{u1}');
select appended from transcript_append('-home', 'w', 'subagents/a', '[{}]', '{u1}');
select pg_temp.read_in('w');
select journal_session_status((select work_item_id from transcripts where session_id = 'w' and subpath = ''), 'paused');
set local work_ledger.now = '2026-01-15';
select appended from transcript_append('-home', 'w', 'subagents/a', '[{}]', '{u2}');
create function pg_temp.run() returns void language plpgsql as $$ begin for n in 1..50 loop exit when (work_retention_run() ->> 'is_done')::boolean; end loop; end $$;
set local work_ledger.now = '2026-01-20';
select pg_temp.run();
select is(pg_temp.left_of('u'), array['', 'subagents/read', 'subagents/unread'], 'a policy takes them with the session');
select is((select erased_at from work_items where id = (select work_item_id from transcripts where session_id = 'w' and subpath = '')), null, 'one whose subagent works is not over');
select is(cardinality(pg_temp.left_of('w')), 3, 'nor gone');
set local work_ledger.now = '2026-01-26';
select pg_temp.run();
select is(pg_temp.left_of('w'), array['', 'subagents/a'], 'then it is');
select is_empty($$ select from transcript_entries e join transcripts t on t.id = e.transcript_id where t.project_key = '-home' $$, 'nothing is left');

select * from finish();
rollback;
