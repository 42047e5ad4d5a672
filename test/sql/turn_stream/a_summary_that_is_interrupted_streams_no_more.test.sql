-- What arrives of a summary is seen by who watches, until it is interrupted.
begin;
select plan(4);

select agent('{"tools": ["look"], "compact_keep_recent": 2, "ledger_nudge_interval": 0}');
select submit('Fix it');
select play(format('[[["look", "Row %s. %s"]]]', n, repeat('x', 3000))::jsonb) from generate_series(1, 5) n;
select context_compact(item(), 'rows');
select from ledger_watch(item());
select is(drive() ->> 'kind', 'summarize', 'a summary is asked for');
select turn_stream(item(), lease(), turn(), '[{"type": "text", "text": "Four ro"}]');
select results_eq('select said from v_streaming', $$ values ('Four ro') $$, 'a summary is seen while it arrives');
select work_pause(item()), work_message(item(), 'Wait', true);
select is_empty('select from v_streaming union all select from turn_streams', 'interrupted, nothing of it is seen any more');
select work_resume(item());
select is(drive() ->> 'kind', 'summarize', 'resumed, the summary is asked for again');

select * from finish();
rollback;
