begin;
select plan(12);

set local work_ledger.now = '2026-11-21 12:00:00+00';
create temporary table s as select * from journal_session_create('chat-1', 'Build the thing');
create function pg_temp.status() returns text language sql as $$ select status from work_sessions where id = (select id from s) $$;

select is(pg_temp.status(), 'active', 'a session that begins');
set local work_ledger.now = '2026-11-21 12:04:59+00';
select is(journal_heartbeat((select id from s)), '2026-11-21 12:09:59+00', 'a heartbeat holds for five minutes');
set local work_ledger.now = '2026-11-21 12:09:58+00';
select is(pg_temp.status(), 'active', 'so long it is active');
select alike(awareness_digest(), '%Build the thing%', 'and others hear of it');
set local work_ledger.now = '2026-11-21 12:09:59+00';
select is(pg_temp.status(), 'crashed', 'silent for longer it has crashed');
select unalike(awareness_digest(), '%Build the thing%', 'and no digest names it');
select from journal_log((select id from s), 'user_feedback', '{"message": "Here again"}');
select is(pg_temp.status(), 'active', 'an entry to its journal is a sign of life');
set local work_ledger.now = '2026-11-21 13:00:00+00';
select from ledger_append((select id from s), 'note', 'And here');
select is(pg_temp.status(), 'active', 'one to its ledger, too');
select from journal_session_status((select id from s), 'paused');
set local work_ledger.now = '2026-11-21 15:00:00+00';
select is(pg_temp.status(), 'paused', 'who pauses may be silent');
select throws_ok($$ select journal_heartbeat((select id from s), 0) $$, 'WL002', null, 'a heartbeat holds for a while');
select throws_ok($$ select journal_heartbeat((select id from work_submit('a', 'Driven'))) $$, 'WL002', null, 'of a session that another program drives');
select from journal_session_status((select id from s), 'completed');
select throws_ok($$ select journal_heartbeat((select id from s)) $$, 'WL003', null, 'and that is not over');

select * from finish();
rollback;
