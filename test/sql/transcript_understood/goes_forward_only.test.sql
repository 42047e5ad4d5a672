-- How far a transcript was read goes forward only, never beyond its end.
begin;
select plan(7);

set local work_ledger.now = '2026-01-01 00:00Z';
select appended from transcript_append('-home', 's', null, '[{}, {}, {}]', '{u1,u2,u3}');
select results_eq($$ select * from transcript_understood('-home', 's', null, 2) $$, $$ values (2, 0::double precision) $$, 'so far');
select is((select understood_seq from transcript_understood('-home', 's', null, 1)), 2, 'never back');
set local work_ledger.now = '2026-01-01 00:01Z';
select is((select count(*)::int from transcripts_take()), 1, 'it is taken');
select is((select understood_seq from transcript_understood('-home', 's', null, 0)), 2, 'who only asks');
select is_empty($$ select from transcripts_take() $$, 'takes it from nobody');
select is((select understood_seq from transcript_understood('-home', 's', null, 9)), 3, 'not beyond the end');
select throws_ok($$ select transcript_understood('-home', 't', null, 1) $$, 'WL002', null, 'of a transcript that there is');

select * from finish();
rollback;
