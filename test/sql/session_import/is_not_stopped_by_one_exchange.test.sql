-- An exchange that cannot be stored stops no import: the others are stored, and it is kept as it came, with the reason.
begin;
select plan(10);

create function pg_temp.exchange(p_text text, p_more jsonb default '{}') returns jsonb language sql as $$
  select jsonb_build_object('text', p_text, 'calls', '[]'::jsonb, 'followUp', 'After ' || p_text) || p_more
$$;
create temporary table report as select session_import(json_build_object('format', 'pi', 'sessionId', 's', 'prompt', 'Fix it', 'exchanges', jsonb_build_array(
  pg_temp.exchange('one', '{"at": "20000-01-01T00:00:00Z", "usage": {"inputTokens": 1e30, "outputTokens": 7, "cachedInputTokens": -1}}'),
  pg_temp.exchange('two', '{"at": "2026-01-02T00:00:00Z", "lints": [{"message": "x", "severity": "bad"}]}'),
  pg_temp.exchange('three', '{"at": "someday", "usage": {"inputTokens": "many", "outputTokens": 1e300}}'),
  pg_temp.exchange('four', jsonb_build_object('at', '2026-01-03T00:00:00Z', 'followUp', repeat(E'\x01', 800000))),
  pg_temp.exchange(repeat(E'\n', 900000) || 'five')))) as r;

select is((select r ->> 'turns' from report), '4', 'four of five are stored');
select results_eq($$ select reason, content::jsonb ->> 'text' from session_records $$, $$ values ('exchange that cannot be stored: lints cannot be stored: new row for relation "message_lints" violates check constraint "severity_is_known"', 'two') $$, 'the exchange that cannot be stored is kept as it came, with the reason');
select results_eq($$ select input_tokens, output_tokens, cached_input_tokens from turns order by depth $$, $$ values (null::integer, 7, null::integer), (null, null, null), (null, null, null), (null, null, null) $$, 'of the counts of an exchange the wrong ones alone are dropped');
select results_eq($$ select started_at from turns order by depth $$, $$ select unnest('{2026-01-02 00:00Z, 2026-01-02 00:00Z, 2026-01-03 00:00Z, 2026-01-03 00:00Z}'::timestamptz[]) $$, 'a time that cannot be is that of the others');
select is((select array_agg(content -> 0 ->> 'text' order by m.sequence) from messages m join turns t on t.id = m.turn_id where m.role = 'user' and t.depth = 1), array['After one', 'After two'], 'what people said around the exchange is said');
select ok((select bool_and(octet_length(content::text) < 4194304) from messages), 'what takes more room as JSON is cut to what a message takes');
select is((select iteration from foci), 4, 'stored exchanges are counted once');
select is((session_import(json_build_object('format', 'pi', 'sessionId', 's', 'prompt', 'Fix it', 'exchanges', jsonb_build_array(pg_temp.exchange('one'))))) ->> 'turns', '0', 'importing again adds nothing');
select ok(octet_length(_cap_text(repeat('😀', 6000) || repeat('a', 20000), 33554)) <= 33554, 'a cap holds where one end has more bytes to a character');
select is(_recorded_count('200000000'), 200000000, 'a count may be large');

select * from finish();
rollback;
