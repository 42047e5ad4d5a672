-- A recorded run has a timeline like our own work; its system prompt and tools are what the provider counted.
begin;
select plan(6);

select session_import('{"format": "codex", "sessionId": "s", "prompt": "Fix it", "model": "claude-opus-4-5", "tools": ["Read"], "exchanges": [
  {"id": "e1", "at": "2026-01-01T00:00:00Z", "text": "Reading", "calls": [{"id": "c1", "name": "Read", "input": {"file_path": "a.ts"}, "result": "a long line of a"}], "usage": {"inputTokens": 5000, "cachedInputTokens": 1000, "outputTokens": 20}},
  {"id": "e2", "at": "2026-01-01T00:01:00Z", "text": "Done", "calls": [], "followUp": "Now b.ts", "usage": {"inputTokens": 100, "cachedInputTokens": 6000}},
  {"id": "e3", "at": "2026-01-01T00:02:00Z", "text": "Done", "calls": [], "usage": {"inputTokens": 50, "cachedInputTokens": 6200}}]}');
create temporary table line as select * from context_timeline('codex:s');

select is((select array_agg(n order by n) from line), array[1, 2, 3], 'a row for each call');
select is((select array_agg(cached_tokens order by n) from line), array[1000, 6000, 6200], 'what the provider counted');
select is((select array[system + task, sent] from line where n = 1), array[6000, 6000], 'the first request is what it counted');
select ok((select bool_and(tools is null) and min(system) = max(system) from line), 'of which the task is known, and nothing else apart');
select is((select people > 0 from line where n = 3), true, 'what people said later is theirs');
select is((select bool_and(s.words = w.words and s.results = w.results and s.people = w.people + o.people) from turns t join turn_sizes s on s.turn_id = t.id, _request_sizes(t) w, _told_sizes(t) o where t.parent_turn_id is not null), true, 'the sums are those of a walk');

select * from finish();
rollback;
