-- Failures of a request for a summary that was answered in the end do not count towards the end of the attempt.
begin;
select plan(3);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent('{"tools": ["look"], "compact_keep_recent": 2, "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select submit('Fix it');
select play(format('[[["look", "%s"]]]', repeat('row ', 800))::jsonb) from generate_series(1, 5);
select context_compact(item(), 'rows');
create function pg_temp.fails(p_class text) returns text language sql as $$
  select iteration_fail(item(), lease(), jsonb_build_object('class', p_class)) ->> 'kind' $$;
select drive(), pg_temp.fails('server_error'), later('1 hour');
select drive(), pg_temp.fails('server_error'), later('1 hour');
select is(drive() ->> 'kind', 'summarize', 'a summary is asked for a third time');
select ok(summary_record(item(), lease(), turn(), '{"content": [{"type": "text", "text": "Rows were seen."}]}'), 'and comes');
select begin_iteration(), pg_temp.fails('malformed_response'), later('1 hour');
select drive();
select is(pg_temp.fails('malformed_response'), 'retry', 'the second answer that cannot be read does not end the attempt: the fourth does');

select * from finish();
rollback;
