-- The project that its program names first is that of a transcript; it may come with a later entry.
begin;
select plan(4);

select appended from transcript_append('-home', 's', null, '[{}]', '{u1}');
select is((select project from transcripts), null, 'none is named');
select appended from transcript_append('-home', 's', null, '[{}]', '{u2}', p_project => 'shop');
select is((select project from transcripts), 'shop', 'the first one counts');
select appended from transcript_append('-home', 's', null, '[{}]', '{u3}', p_project => 'other');
select is((select project from transcripts), 'shop', 'a later one does not');
select throws_ok($$ select transcript_append('-home', 's', 'subagents/a', '[{}]', '{u1}', p_project => ' ') $$, 'WL002', null, 'it has a name');

select * from finish();
rollback;
