-- A transcript that nobody read into work, or could, goes as its session would have: by its age, under the policy of imported work, in parts.
begin;
select plan(12);

create function pg_temp.put(p_session text, p_at timestamptz, p_count integer default 1) returns void language plpgsql as $$
begin
  perform set_config('work_ledger.now', p_at::text, true);
  perform transcript_append('-home', p_session, null, (select json_agg(json_build_object('n', n)) from generate_series(1, p_count) n),
                            array(select 'u' || n from generate_series(1, p_count) n), p_summary => '{"x": 1}');
end $$;
select pg_temp.put('old', '2026-01-01', 5), pg_temp.put('older', '2025-12-31'), pg_temp.put('young', '2026-01-09'), pg_temp.put('work', '2026-01-01');
select session_import('{"format": "claude-code", "sessionId": "work", "prompt": "Go", "exchanges": [], "isLive": true, "transcript": {"projectKey": "-home", "sessionId": "work"}}');
set local work_ledger.now = '2026-01-10';
select ledger_append((select work_item_id from transcripts where session_id = 'work'), 'note', 'It goes on');
set local work_ledger.now = '2026-01-12';

select is(work_retention_run() ->> 'is_done', 'true', 'without a policy none goes');
select retention_policy_save('7 days', 'failed');
select is(work_retention_run(true) ->> 'transcripts', '0', 'nor by one for what failed');
select retention_policy_save('7 days', p_faculty => 'engineer');
select is(work_retention_run(true) ->> 'transcripts', '0', 'or for another faculty');
select retention_policy_save('7 days', 'completed', 'imported', 'all');
select retention_policy_save('7 days');
select is(work_retention_run(true) ->> 'transcripts', '0', 'or where imported work is kept');
select retention_policy_save(null, 'completed', 'imported');
select is(work_retention_run(true) ->> 'transcripts', '2', 'else it is due by its age, unless it is somebody''s work');

select is(work_retention_run(p_limit => 3), '{"is_done": false, "rows": 1}', 'the oldest first');
select is(work_retention_run(p_limit => 3), '{"is_done": false, "rows": 3}', 'a part of the other');
select is_empty($$ select from transcript_load('-home', 'old') $$, 'of which readers see nothing any more');
select throws_ok($$ select transcript_append('-home', 'old', null, '[{}]', '{v}') $$, 'WL003', null, 'nor is it appended to');
select is(work_retention_run(p_limit => 3), '{"is_done": false, "rows": 2}', 'then the rest');
select is(work_retention_run() ->> 'is_done', 'true', 'until none is left');
select results_eq($$ select t.session_id, t.summary is null, count(e.seq) from transcripts t left join transcript_entries e on e.transcript_id = t.id group by t.id order by 1 $$,
  $$ values ('old', true, 0::bigint), ('older', true, 0), ('work', false, 1), ('young', false, 1) $$, 'others are as they were');

select * from finish();
rollback;
