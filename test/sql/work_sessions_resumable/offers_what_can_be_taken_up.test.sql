-- Sessions that paused or fell silent are offered with a packet to go on from; those that are alive or over are not.
begin;
select plan(8);

select agent();
set local work_ledger.now = '2026-11-21 12:00:00+00';
create temporary table s as
  select 'silent' as what, (journal_session_create('chat-1', 'Build the thing')).id
  union all select 'paused', (journal_session_create('chat-2', 'Fix the thing')).id
  union all select 'over', (journal_session_create('chat-1', 'Done with it')).id
  union all select 'ours, paused', (work_submit('analyze', 'Find why')).id
  union all select 'ours, queued', (work_submit('analyze', 'Find when')).id
  union all select 'full', (journal_session_create('chat-3', 'Keep it all')).id;
create function pg_temp.s(p_what text) returns uuid language sql as $$ select id from s where what = p_what $$;
select from journal_log(pg_temp.s('silent'), 'thinking', '{"reasoning": "so", "planSteps": ["fix the import"]}');
select journal_log(pg_temp.s('full'), 'error', jsonb_build_object('errorType', 'a', 'recoverable', true, 'message', 'x' || n)) from generate_series(1, 5) n;
select from journal_log(pg_temp.s('full'), 'thinking', jsonb_build_object('reasoning', 'so', 'planSteps', (select jsonb_agg(repeat('plan ', 30) || n) from generate_series(1, 40) n)));
select from journal_session_status(pg_temp.s('paused'), 'paused');
select from journal_session_status(pg_temp.s('over'), 'completed');
select from work_pause(pg_temp.s('ours, paused'));
set local work_ledger.now = '2026-11-21 12:04:00+00';
select is((select array_agg(s.what order by s.what) from work_sessions_resumable() r join s using (id)), array['ours, paused', 'paused'], 'paused sessions are offered');
set local work_ledger.now = '2026-11-21 12:06:00+00';
select journal_session_create('chat-4', 'Alive');
select is((select array_agg(s.what order by s.what) from work_sessions_resumable() r join s using (id)), array['full', 'ours, paused', 'paused', 'silent'], 'silent sessions are offered');
select results_eq($$ select status, packet ->> 'originalPrompt', packet -> 'pendingActions' from work_sessions_resumable('chat-1') $$,
  $$ values ('crashed', 'Build the thing', '["fix the import"]'::jsonb) $$, 'sessions of one conversation are offered with their packets');
select is((select array_agg((packet ->> 'tokenCount')::integer <= 500 order by conversation_id) from work_sessions_resumable(p_target_tokens => 500) where conversation_id in ('chat-1', 'chat-2')), array[true, true], 'packets have the size that was asked for');
select is((select (packet ->> 'tokenCount')::integer > 500 from work_sessions_resumable('chat-3', 500)), true, 'a packet is as large as it has to be');
select is((select count(*) from work_sessions_resumable(p_limit => 1)), 1::bigint, 'so many sessions are offered at most');
select throws_ok($$ select work_sessions_resumable(p_target_tokens => 1) $$, 'WL002', null, 'a packet of one token is refused');
select from journal_session_status(pg_temp.s('silent'), 'active');
select is_empty($$ select from work_sessions_resumable('chat-1') $$, 'a session that was taken up is offered no more');

select * from finish();
rollback;
