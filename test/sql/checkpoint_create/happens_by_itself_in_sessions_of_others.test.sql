-- A session that another program drives gets a checkpoint by itself: after fifty entries, a part that is done, a hundred thousand tokens, a quarter of an hour.
begin;
select plan(8);

set local work_ledger.now = '2026-11-21 12:00:00+00';
create temporary table s as select * from journal_session_create('chat-1', 'Build the thing');
create function pg_temp.triggers() returns text[] language sql as $$ select array_agg(trigger order by created_at, id) from work_checkpoints where work_item_id = (select id from s) $$;
create function pg_temp.log(p_type text, p_content jsonb) returns void language sql as $$ select journal_log((select id from s), p_type, p_content) $$;

do $$ begin for n in 1..49 loop perform pg_temp.log('user_feedback', jsonb_build_object('message', n::text)); end loop; end $$;
select is(pg_temp.triggers(), null, '49 entries are no reason for a checkpoint');
select pg_temp.log('user_feedback', '{"message": "50"}');
select is(pg_temp.triggers(), array['entries'], 'fifty entries are a reason');
set local work_ledger.now = '2026-11-21 12:01:00+00';
select pg_temp.log('summary', '{"periodCovered": {"start": 1, "end": 2}, "accomplishments": ["it"], "currentStatus": "a part is done", "nextSteps": []}');
select is(pg_temp.triggers(), array['entries', 'block'], 'a part that is done is a reason');
set local work_ledger.now = '2026-11-21 12:02:00+00';
select from ledger_append((select id from s), 'note', 'nothing done');
select from ledger_append((select id from s), 'step', 'Another part');
select is(pg_temp.triggers(), array['entries', 'block', 'block'], 'a step in its ledger is a reason');
set local work_ledger.now = '2026-11-21 12:03:00+00';
do $$ begin for n in 1..26 loop perform pg_temp.log('thinking', jsonb_build_object('reasoning', repeat('word ', 3000), 'n', n)); end loop; end $$;
select is(pg_temp.triggers(), array['entries', 'block', 'block', 'tokens'], 'a hundred thousand tokens are a reason');
set local work_ledger.now = '2026-11-21 12:04:00+00';
select pg_temp.log('user_feedback', '{"message": "soon"}');
set local work_ledger.now = '2026-11-21 12:18:01+00';
select pg_temp.log('user_feedback', '{"message": "late"}');
select is(pg_temp.triggers(), array['entries', 'block', 'block', 'tokens', 'time'], 'a quarter of an hour is a reason');
select is((checkpoint_latest((select id from s))).completed_tasks, '["Another part", "a part is done"]', 'the checkpoint knows what was done');
select results_eq($$ select entry_count, token_estimate > 100000 from work_sessions where id = (select id from s) $$,
  $$ select count(*)::integer, true from work_journal where work_item_id = (select id from s) $$, 'work_sessions counts entries and tokens exactly');

select * from finish();
rollback;
