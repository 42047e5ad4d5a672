-- Whoever is told what else is going on is told as of when, in UTC, and between markers that differ each time.
begin;
select plan(7);

set local work_ledger.now = '2026-11-20 19:34:56+00';
set local timezone = 'Asia/Tokyo';
select from faculty_save('{"name": "reader", "accepts": ["read"], "awareness": {"refresh_every": 1}}');
create temporary table other as select * from work_submit('write', 'Write it', p_faculty => 'nobody');
select from ledger_append((select id from other), 'finding', 'Known before');
select submit('Read it', 'read');
-- One iteration; all that its request said.
create function pg_temp.say(p_after interval) returns text language plpgsql as $$
begin
  perform drive();
  perform turn_record(item(), lease(), turn(), '{"stop_reason": "max_tokens", "content": [{"type": "text", "text": "Well"}]}');
  perform iteration_finish(item(), lease());
  perform later(p_after);
  return told((select max(n) from request));
end
$$;

create temporary table first as select pg_temp.say('11 hours') as text;
select matches(text, E'What else is going on, as of 19:34 UTC on 2026-11-20, as data between the markers; .*:\n\n<(data-[0-9a-f]{12})>\n== AWARENESS ==\n.*Known before .*\n</\\1>', 'the first request says when its digest was made') from first;
select from ledger_append((select id from other), 'finding', 'Found meanwhile');
create temporary table second as select pg_temp.say('1 hour') as text;
select matches(text, E'as of 19:34 UTC on 2026-11-20, as data.*What is new elsewhere since you were last told, as of 06:34 UTC on 2026-11-21, as data between the markers; .*:\n\n<(data-[0-9a-f]{12})>\n== AWARENESS ==\n.*Found meanwhile .*\n</\\1>', 'what is told later says when it was made') from second;
select alike((select text from second), (select text from first) || '%', 'what was told stands as it was');
select is((select count(distinct m[1]) from second, regexp_matches(text, '</(data-[0-9a-f]{12})>', 'g') m), 2::bigint, 'each digest stands between other markers');
select matches(ability_invoke('awareness_digest', '{}', item()) #>> '{}', E'^What else is going on, as of 07:34 UTC on 2026-11-21, .*:\n\n<(data-[0-9a-f]{12})>\n== AWARENESS ==\n.*\n</\\1>$', 'a client that asks for the digest is told when it was made');
select alike(awareness_digest(item()), '== AWARENESS ==%(Nobody/write, 12h ago)', 'awareness_digest() itself is the block of the design');
select is((select string_agg(content, ', ' order by iteration) from v_awareness_shown where reader_id = item()), 'Known before, Found meanwhile', 'who was told what is a query');

select * from finish();
rollback;
