-- Secrets leave entries and summaries before they are stored, unless the caller keeps those of the entries.
begin;
select plan(7);

create function pg_temp.entry() returns text language sql as $$ select '{"said": "The key is sk-' || 'ant-api03-' || repeat('aB3_', 10) || '\"", "id": "\u0000"}' $$;

select appended from transcript_append('-home', 's', null, ('[' || pg_temp.entry() || ']')::json, '{u}', p_summary => pg_temp.entry());
select is((select entry from transcript_load('-home', 's')), '{"said": "The key is [redacted]\"", "id": "\u0000"}', 'a secret is taken out, all else stays');
select is((select summary from transcript_list('-home')), '{"said": "The key is [redacted]\"", "id": "\u0000"}', 'of the summary, too');
select results_eq($$ select place, secrets from redactions order by place $$, $$ values ('transcript_entries', 1), ('transcripts', 1) $$, 'both are counted');
select appended from transcript_append('-home', 't', null, ('[' || pg_temp.entry() || ']')::json, '{u}', p_keep_secrets => true);
select is((select entry from transcript_load('-home', 't')), pg_temp.entry(), 'whoever asks for it keeps them');
select appended from transcript_append('-home', 't', null, ('[' || pg_temp.entry() || ']')::json, '{v}', p_summary => pg_temp.entry(), p_summary_of => 1, p_keep_secrets => true);
select is((select summary from transcript_list('-home', 't')), '{"said": "The key is [redacted]\"", "id": "\u0000"}', 'but not in the summary');
select appended from transcript_append('-home', 'w', null, ('[' || pg_temp.entry() || ']')::json, '{u}');
select is((select entry from transcript_load('-home', 'w')), '{"said": "The key is [redacted]\"", "id": "\u0000"}', 'nor in what is appended later in the same transaction');
select lives_ok(format('select (transcript_understood(''-home'', ''s'', null, 0, %L))', pg_temp.entry()), 'what went wrong may quote one');

select * from finish();
rollback;
