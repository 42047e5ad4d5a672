-- Of two clients none appends to, reads into turns or erases the transcript of the other one; whoever reads may load both.
begin;
select plan(18);

create temporary table made as select * from work_roles_create(format('t%s_', pg_backend_pid()));
do $$ begin execute format('create role t_ann; create role t_bob; create role t_eve; grant %1$I to t_ann, t_bob; grant %2$I to t_eve',
  (select role from made where kind = 'client'), (select role from made where kind = 'admin')); end $$;
create function pg_temp.by(p_role text, p_sql text) returns text language plpgsql as $$
declare
  v_me text := session_user;
  v_said text;
begin
  perform set_config('session_authorization', p_role, true);
  begin
    execute p_sql into v_said;
  exception when others then
    v_said := sqlstate;
  end;
  perform set_config('session_authorization', v_me, true);
  return v_said;
end $$;

select is(pg_temp.by('t_ann', $$ select last_seq from transcript_append('-home', 's', null, '[{"type": "user"}]', '{u}') $$), '1', 'a client begins a transcript');
select is(pg_temp.by('t_bob', $$ select last_seq from transcript_append('-home', 's', null, '[{"type": "forged"}]', '{v}') $$), '42501', 'another one appends nothing to it');
select is(pg_temp.by('t_bob', $$ select last_seq from transcript_append('-home', 's', 'subagents/agent-1', '[{"type": "forged"}]', '{v}') $$), '42501', 'nor puts a subagent of his into it');
select is(pg_temp.by('t_ann', $$ select last_seq from transcript_append('-home', 's', 'subagents/agent-1', '[{"type": "user"}]', '{v}') $$), '1', 'she has hers');
select is(pg_temp.by('t_bob', $$ select transcript_understood('-home', 's', null, 1) $$), '42501', 'nor says that it was read');
select is(pg_temp.by('t_bob', $$ select count(*) from transcripts_take('0 seconds') $$), '0', 'nor is given it to read');
select is(pg_temp.by('t_bob', $$ select session_import('{"format": "claude-code", "sessionId": "s", "exchanges": [], "transcript": {"projectKey": "-home", "sessionId": "s"}}') $$), '42501', 'nor makes an item of it');
select is(pg_temp.by('t_bob', $$ select count(*) from transcript_load('-home', 's') $$), '1', 'it reads it');
select is(pg_temp.by('t_ann', $$ select transcript_delete('-home', 's') $$), '42501', 'clients erase nothing');
select is(pg_temp.by('t_eve', $$ select last_seq from transcript_append('-home', 's', null, '[{"type": "user"}]', '{w}') $$), '2', 'who writes for all appends');
select is(pg_temp.by('t_eve', $$ select count(*) from transcripts_take('0 seconds') $$), '2', 'and is given both to read');
select is(pg_temp.by('t_eve', $$ select session_import('{"format": "claude-code", "sessionId": "s", "prompt": "Go", "exchanges": [], "transcript": {"projectKey": "-home", "sessionId": "s"}}') ->> 'session' $$), 'claude-code:s', 'and makes an item of it');
select is((select submitted_by from work_items where external_id = 'import:claude-code:s'), 't_ann'::name, 'which is that of whoever began it');
select is(pg_temp.by('t_eve', $$ select session_import('{"format": "claude-code", "sessionId": "s#b", "parentSessionId": "s", "prompt": "Look", "exchanges": [], "transcript": {"projectKey": "-home", "sessionId": "s"}}') ->> 'session' $$), 'claude-code:s#b', 'and of a subagent in it');
select is((select concat_ws(' ', submitted_by, work_type) from work_items where external_id = 'import:claude-code:s#b'), 't_ann import', 'which is hers, too');
select is((select w.external_id from transcripts t join work_items w on w.id = t.work_item_id), 'import:claude-code:s', 'the transcript is that of the session');
select is(pg_temp.by('t_ann', $$ select id = (select work_item_id from transcripts where subpath = '') from journal_session_open('s') $$), 'true', 'whose hooks find it');
select is(pg_temp.by('t_eve', $$ select transcript_delete('-home', 's') $$), '2', 'an administrator erases it');

select * from finish();
rollback;
