-- A transcript that cannot be read says why, and waits twice as long each time, a day at most, until something is read.
begin;
select plan(11);

create function pg_temp.fails(p_at timestamptz) returns double precision language plpgsql as $$
begin
  perform set_config('work_ledger.now', p_at::text, true);
  return (select wait_seconds from transcript_understood('-home', 's', null, 3, 'no such thing'));
end $$;

set local work_ledger.now = '2026-01-01 00:00Z';
select appended from transcript_append('-home', 's', null, '[{}, {}, {}]', '{u1,u2,u3}');
select is((select understood_seq from transcript_understood('-home', 's', null, 2)), 2, 'something was read');
select is(pg_temp.fails('2026-01-01 00:01Z'), 60::double precision, 'then a problem: a minute');
select results_eq($$ select problem, unread_count from v_transcripts $$, $$ values ('no such thing', 1) $$, 'it is shown, and reads nothing');
set local work_ledger.now = '2026-01-01 00:01:50Z';
select is_empty($$ select from transcripts_take() $$, 'it is not given out at once');
select is((select wait_seconds from transcript_understood('-home', 's', null, 0)), 10::double precision, 'whoever asks is told for how long');
set local work_ledger.now = '2026-01-01 00:02:00Z';
select is((select count(*)::int from transcripts_take()), 1, 'then it is tried again');
select is(pg_temp.fails('2026-01-01 00:03Z'), 120::double precision, 'the second time two minutes');
select is((select max(pg_temp.fails('2026-01-02 00:00Z')) from generate_series(1, 60)), 86400::double precision, 'never more than a day');
set local work_ledger.now = '2026-01-03 00:01Z';
select is((select understood_seq from transcript_understood('-home', 's', null, 3)), 3, 'once it is read');
select results_eq($$ select problem, failure_count, retry_at from transcripts $$, $$ values (null::text, 0, null::timestamptz) $$, 'nothing is left of it');
select transcript_append('-home', 's', null, '[{}]', '{u4}');
select is(pg_temp.fails('2026-01-03 00:02Z'), 60::double precision, 'and the next one waits a minute');

select * from finish();
rollback;
