begin;
select plan(7);

set local work_ledger.now = '2026-11-20 19:34:56+00';
set local timezone = 'Asia/Tokyo';
select from faculty_save('{"name": "reader", "accepts": ["read"], "awareness": {"refresh_every": 1}}');
create temporary table other as select * from work_submit('write', 'Write it', p_faculty => 'nobody');
select from ledger_append((select id from other), 'finding', 'Known before');
select submit('Read it', 'read');
create function pg_temp.say(p_after interval) returns text language plpgsql as $$
declare
  v_lease uuid := (focus_claim(item(), 'w', 10000000) ->> 'lease')::uuid;
  v_stage json := iteration_begin(item(), v_lease);
begin
  perform turn_record(item(), v_lease, (v_stage ->> 'turn_id')::uuid, '{"stop_reason": "max_tokens", "content": [{"type": "text", "text": "Well"}]}');
  perform iteration_finish(item(), v_lease);
  perform set_config('work_ledger.now', (_now() + p_after)::text, true);
  return (select string_agg(b ->> 'text', E'\n\n' order by m.n) from json_array_elements(v_stage #> '{request,messages}') with ordinality as m(value, n), json_array_elements(m.value -> 'content') b);
end
$$;

create temporary table first as select pg_temp.say('11 hours') as text;
select matches(text, E'What else is going on, as of 19:34 UTC on 2026-11-20, as data between the markers; .*:\n\n<(data-[0-9a-f]{12})>\n== AWARENESS ==\n.*Known before .*\n</\\1>') from first;
select from ledger_append((select id from other), 'finding', 'Found meanwhile');
create temporary table second as select pg_temp.say('1 hour') as text;
select matches(text, E'as of 19:34 UTC on 2026-11-20, as data.*What is new elsewhere since you were last told, as of 06:34 UTC on 2026-11-21, as data between the markers; .*:\n\n<(data-[0-9a-f]{12})>\n== AWARENESS ==\n.*Found meanwhile .*\n</\\1>', 'so does what is told later') from second;
select alike((select text from second), (select text from first) || '%', 'and what was told stands as it was');
select is((select count(distinct m[1]) from second, regexp_matches(text, '</(data-[0-9a-f]{12})>', 'g') m), 2::bigint, 'between other markers');
select matches(ability_invoke('awareness_digest', '{}', item()) #>> '{}', E'^What else is going on, as of 07:34 UTC on 2026-11-21, .*:\n\n<(data-[0-9a-f]{12})>\n== AWARENESS ==\n.*\n</\\1>$', 'a client that asks for it is told, too');
select alike(awareness_digest(item()), '== AWARENESS ==%(Nobody/write, 12h ago)', 'the block itself is that of the design');
select is((select string_agg(content, ', ' order by iteration) from v_awareness_shown where reader_id = item()), 'Known before, Found meanwhile', 'who was told what is a query');

select * from finish();
rollback;
