-- A session that another program drives is alive while it sends heartbeats, or writes; else it has crashed, and others hear of it no more.
begin;
select plan(13);

set local work_ledger.now = '2026-11-21 12:00:00+00';
select take(journal_session_create('chat-1', 'Build the thing'));
create function pg_temp.status() returns text language sql as $$ select status from work_sessions where id = item() $$;

select is(pg_temp.status(), 'active', 'a session that begins is active');
set local work_ledger.now = '2026-11-21 12:04:59+00';
select is(journal_heartbeat(item()), '2026-11-21 12:09:59+00', 'a heartbeat holds for five minutes');
set local work_ledger.now = '2026-11-21 12:09:58+00';
select is(pg_temp.status(), 'active', 'a session is active until its heartbeat ends');
select alike(awareness_digest(), '%Build the thing%', 'others hear of an active session');
set local work_ledger.now = '2026-11-21 12:09:59+00';
select is(pg_temp.status(), 'crashed', 'a session that is silent for longer has crashed');
select unalike(awareness_digest(), '%Build the thing%', 'no digest names a crashed session');
select from journal_log(item(), 'user_feedback', '{"message": "Here again"}');
select is(pg_temp.status(), 'active', 'an entry to its journal is a sign of life');
set local work_ledger.now = '2026-11-21 13:00:00+00';
select from ledger_append(item(), 'note', 'And here');
select is(pg_temp.status(), 'active', 'an entry to its ledger is a sign of life');
set local work_ledger.now = '2026-11-21 14:00:00+00';
select from journal_session_open('chat-1', 'Build the thing');
select is(pg_temp.status(), 'active', 'whoever opens a session is alive');
select from journal_session_status(item(), 'paused');
set local work_ledger.now = '2026-11-21 15:00:00+00';
select is(pg_temp.status(), 'paused', 'a paused session may be silent');
select throws_ok($$ select journal_heartbeat(item(), 0) $$, 'WL002', null, 'a heartbeat that holds for no time is refused');
select throws_ok($$ select journal_heartbeat((select id from work_submit('a', 'Driven'))) $$, 'WL002', null, 'a heartbeat of work that we drive is refused');
select from journal_session_status(item(), 'completed');
select throws_ok($$ select journal_heartbeat(item()) $$, 'WL003', null, 'a heartbeat of a session that is over is refused');

select * from finish();
rollback;
