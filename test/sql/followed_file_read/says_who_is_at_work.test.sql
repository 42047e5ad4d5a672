-- A followed session is a journal session: active while its program writes, paused when it rests, crashed where it went away in a call.
begin;
select plan(15);

create function pg_temp.run(p_open boolean, p_live boolean) returns uuid language sql as $$
  select (session_import(json_build_object(
    'format', 'codex', 'sessionId', 's', 'prompt', 'Mend it', 'cwd', '/shop', 'project', 'shop', 'isFollowed', true, 'isLive', p_live, 'exchanges', json_build_array(
      json_build_object('at', '2026-01-01T00:00:00Z', 'text', 'I look.', 'calls', json_build_array(
        json_build_object('id', 'a', 'name', 'bash', 'input', json_build_object('command', 'ls'), 'result', case when not p_open then 'a.py' end)))))) ->> 'work_item_id')::uuid;
$$;

set local work_ledger.now = '2026-01-01 00:10Z';
create temporary table known as select pg_temp.run(true, true) as id;
create function pg_temp.says() returns text language sql as $$ select _journal_state(w) from work_items w, known k where w.id = k.id $$;
select results_eq($$ select work_type, description, params ->> 'conversationId', project from work_items $$, $$ values ('journal', 'Mend it', 's', 'shop') $$, 'it is a journal session');
select is(pg_temp.says(), 'active', 'its program is at work');
select is((journal_session_open('s')).id, (select id from known), 'hooks find it');
select alike(awareness_here((journal_session_open('t', 'Mend the till', '/shop', 'shop')).id, '/shop'), '%- [session] Mend it (active)%', 'others hear of a session');

select followed_file_read(repeat('0a', 32), '1', id, 1800) from known;
select results_eq($$ select file_key, state from followed_files_list() $$, $$ values (repeat('0a', 32), '1') $$, 'what was read is known');
set local work_ledger.now = '2026-01-01 00:30Z';
select is(pg_temp.says(), 'active', 'a call may take half an hour');
set local work_ledger.now = '2026-01-01 00:50Z';
select is_empty($$ select followed_sessions_rest() $$, 'it did not end in the middle of a call');
select is(pg_temp.says(), 'crashed', 'but died');

select pg_temp.run(false, false);
select is(pg_temp.says(), 'paused', 'what is read later ends it');
select followed_file_read(repeat('0a', 32), '2', id, 300) from known;
select is(pg_temp.says(), 'active', 'it goes on');
select is_empty($$ select followed_sessions_rest() $$, 'while it is alive it does not rest');
select pg_temp.run(false, false);
select is(pg_temp.says(), 'active', 'nor because its file is quiet, while its hooks say that it works');
set local work_ledger.now = '2026-01-01 01:00Z';
select results_eq($$ select followed_sessions_rest() $$, $$ select id from known $$, 'then it does');
select is(pg_temp.says(), 'paused', 'and can be resumed');
select results_eq($$ select state from followed_files_list() $$, $$ values ('2') $$, 'a file has one state');

select * from finish();
rollback;
