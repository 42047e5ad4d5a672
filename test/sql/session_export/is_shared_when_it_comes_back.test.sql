-- A session of Claude Code that went back to it and is imported again shares what it had: nothing is stored twice.
begin;
select plan(4);

create function pg_temp.run(p_session text, p_more jsonb default '[]') returns json language sql as $$
  select jsonb_build_object('format', 'claude-code', 'sessionId', p_session, 'prompt', 'Look', 'model', 'claude-opus-5', 'exchanges', '[
    {"id": "00000000-0000-4000-8000-000000000001", "text": "I look", "thinking": [{"thinking": "Hm", "signature": "c2ln"}], "calls": [{"id": "a", "name": "Skill", "input": {"skill": "s"}, "result": "seen"}]},
    {"id": "00000000-0000-4000-8000-000000000002", "text": "I see"}]'::jsonb || p_more)::json $$;
create temporary table first as select session_import(pg_temp.run('one')) as i;
create temporary table line as select n, record, left_out from session_export('claude-code:one', 'claude-code');
select is((select array_agg(record ->> 'uuid' order by n) from line where record ->> 'uuid' like '00000000%'), array['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002'], 'its exchanges keep their ids');
select is((select string_agg(record #>> '{message,content,0,type}', ' ' order by n) from line where record ->> 'type' = 'assistant'), 'thinking text tool_use text', 'its own calls and signed thinking go back as they were');
select is((select count(*) from line where left_out is not null), 0::bigint, 'nothing is left out');
create temporary table again as select session_import(pg_temp.run('two', '[{"text": "More"}]')) as i;
select is((select i ->> 'turns' from again), '1', 'imported again under its new name, only what is new is stored');

select * from finish();
rollback;
