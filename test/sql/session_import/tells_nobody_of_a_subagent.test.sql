-- A subagent of a recorded session is part of that session: nobody is told that it is completed, least of all the session.
begin;
select plan(3);

select agent();
create function pg_temp.imported(p_session text, p_parent text) returns uuid language sql as $$
  select (session_import(json_build_object('format', 'claude-code', 'sessionId', p_session, 'parentSessionId', p_parent, 'prompt', 'Mend ' || p_session, 'model', 'm',
    'isFollowed', true, 'isLive', true,
    'exchanges', json_build_array(json_build_object('id', p_session, 'at', _now(), 'text', 'I look', 'calls', '[]'::json)))) ->> 'work_item_id')::uuid $$;
create temporary table session as select pg_temp.imported('s1', null) as id;
select from pg_temp.imported('s1#a1', 's1');
select from pg_temp.imported('s2', null);

select unalike(journal_session_news((select id from session)), '%Mend s1#a1%', 'the session is not told of its own subagent');
select alike(awareness_digest(), '%Mend s1%', 'others are told of the session');
select unalike(awareness_digest(), '%Mend s1#a1%', 'and not of its subagent');

select * from finish();
rollback;
