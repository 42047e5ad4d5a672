-- What nobody has read for a while is given to whoever asks, to one at a time, until it is read.
begin;
select plan(9);

set local work_ledger.now = '2026-01-01 00:00Z';
select appended from transcript_append('-home', 's', null, '[{}, {}]', '{u1,u2}', p_project => 'shop');
select appended from transcript_append('-home', 's', 'subagents/a', '[{}]', '{u1}');
select is_empty($$ select from transcripts_take() $$, 'whoever appended reads it');
set local work_ledger.now = '2026-01-01 00:01Z';
select results_eq($$ select session_id, subpath, project from transcripts_take() order by subpath nulls first $$, $$ values ('s', null, 'shop'), ('s', 'subagents/a', null) $$, 'what was left is given');
select is_empty($$ select from transcripts_take() $$, 'to one');
select is((select understood_seq from transcript_understood('-home', 's', null, 2)), 2, 'who says what was read');
set local work_ledger.now = '2026-01-01 00:10Z';
select results_eq($$ select subpath from transcripts_take() $$, '{subagents/a}'::text[], 'what it left is given again');
select transcript_delete('-home', 's', 'subagents/a');
set local work_ledger.now = '2026-01-01 00:20Z';
select is_empty($$ select from transcripts_take() $$, 'what is erased is not');
select throws_ok($$ select transcripts_take(p_limit => -1) $$, 'WL002', null, 'a limit is not negative');
select throws_ok($$ select transcripts_take(null) $$, 'WL002', null, 'an age is given');

select throws_ok($$ select transcripts_take('-1 second') $$, 'WL002', null, 'not one that is to come');

select * from finish();
rollback;
