-- A long message that a summary leaves no room for is told by a handle that has all of it; so is one of an earlier attempt.
begin;
select plan(5);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent('{"tools": ["look"], "context_window": 20000, "compact_keep_recent": 2, "elide_budget": 0, "keep_auto": 0, "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
create function pg_temp.handle() returns text language sql as $$
  select substring(told((select max(n)::integer from request)) from 'and so on[^"]*artifact_read\("([0-9a-f]{16})"\)') $$;
select submit('Fix it');
select play('[[["look"]]]');
select work_message(item(), repeat('and so on ', 2000) || 'to the end of it');
select play(format('[[["look", "%s"]]]', repeat(format('row %s ', n), 1000))::jsonb) from generate_series(1, 5) n;
select context_compact(item(), 'rows');
select is(drive() ->> 'kind', 'summarize', 'a summary is asked for');
select ok(summary_record(item(), lease(), turn(), '{"content": [{"type": "text", "text": "Rows were seen."}]}'), 'and used');
select begin_iteration();
select alike((select content from artifacts where left(content_hash, 16) = pg_temp.handle()), '%to the end of it', 'the handle of the message beside it has all of it');

select submit('Try again');
select work_message(item(), repeat('and so on ', 3000) || 'to the last word');
select play('[[["look"]]]');
select give_up(), later('1 hour');
select drive();
select alike(told((select max(n)::integer from request)), '%What you were told in them:%and so on%artifact_read(%', 'the next attempt is told by head, tail and handle');
select alike((select content from artifacts where left(content_hash, 16) = pg_temp.handle()), '%to the last word', 'its handle has all of it');

select * from finish();
rollback;
