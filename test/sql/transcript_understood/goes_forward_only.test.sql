-- How far a transcript was read goes forward only, never beyond its end; a problem is noted, and is tried again.
begin;
select plan(8);

set local work_ledger.now = '2026-01-01 00:00Z';
select appended from transcript_append('-home', 's', null, '[{}, {}, {}]', '{u1,u2,u3}');
select is(transcript_understood('-home', 's', null, 2), 2, 'so far');
select is(transcript_understood('-home', 's', null, 1), 2, 'never back');
select is(transcript_understood('-home', 's', null, 3, 'no such thing'), 2, 'a problem reads nothing');
select results_eq($$ select problem, unread_count from v_transcripts $$, $$ values ('no such thing', 1) $$, 'it is shown');
set local work_ledger.now = '2026-01-01 00:00:50Z';
select is_empty($$ select from transcripts_take() $$, 'not at once');
set local work_ledger.now = '2026-01-01 00:01:10Z';
select is((select count(*)::int from transcripts_take()), 1, 'but after a minute it is tried again');
select is(transcript_understood('-home', 's', null, 9), 3, 'not beyond the end');
select throws_ok($$ select transcript_understood('-home', 't', null, 1) $$, 'WL002', null, 'of a transcript that there is');

select * from finish();
rollback;
