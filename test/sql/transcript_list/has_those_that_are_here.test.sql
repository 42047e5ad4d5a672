-- The transcripts of a project key are listed, the newest first, by the clock of the database; those that were erased are not.
begin;
select plan(5);

set local work_ledger.now = '2026-01-01 00:00:00.1239Z';
select appended from transcript_append('-home', 's', null, '[{}]', '{u1}', p_summary => '{"x": 1}');
select appended from transcript_append('-home', 's', 'subagents/a', '[{}]', '{u1}');
select appended from transcript_append('-other', 's', null, '[{}]', '{u1}');
set local work_ledger.now = '2026-01-01 00:00:02Z';
select appended from transcript_append('-home', 't', null, '[{}]', '{u1}');
select appended from transcript_append('-home', 'empty', null, '[]', '{}');

select results_eq($$ select session_id, subpath, mtime, entry_count, summary from transcript_list('-home') order by 1, 2 nulls first $$,
  $$ values ('s', null, 1767225600123, 1, '{"x": 1}'), ('s', 'subagents/a', 1767225600123, 1, null), ('t', null, 1767225602000, 1, null) $$, 'all with entries, in whole milliseconds');
select is((select session_id from transcript_list('-home') limit 1), 't', 'the newest first');
select results_eq($$ select subpath from transcript_list('-home', 's') where subpath is not null $$, '{subagents/a}'::text[], 'those of one session');
set local work_ledger.now = '2026-01-01 00:00:00Z';
select appended from transcript_append('-home', 't', null, '[{}]', '{u2}');
select is((select mtime from transcript_list('-home', 't')), 1767225602000, 'the time never goes back');
select transcript_delete('-home', 't');
select is_empty($$ select from transcript_list('-home', 't') $$, 'what was erased is not listed');

select * from finish();
rollback;
