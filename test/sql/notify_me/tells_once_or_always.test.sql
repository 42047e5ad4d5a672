-- What an agent asked to be told of comes first among its news: once, or each time, and again if the request was given up.
begin;
select plan(19);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent('{"tools": ["look", "write_file"]}');
select ability_register('write_file', 'Writes.', '{"type": "object"}', 'idempotent', p_touches => '[{"key": "path", "action": "modify"}]');
create temporary table other as select (work_submit('analyze', 'Other')).id;
create function pg_temp.other() returns uuid language sql as $$ select id from other $$;
create function pg_temp.news(p_after interval default '2 minutes') returns text language plpgsql as $$
declare
  v_says text;
begin
  perform later(p_after), drive();
  select substring(m.content -> 0 ->> 'text' from 'What you asked to be told about:\n(.*?)\n(?:\n|<|$)') into v_says from messages m where m.turn_id = turn() and m.metadata ->> 'kind' = 'digest';
  perform answer('[["look"]]'), run(), iteration_finish(item(), lease());
  return v_says;
end
$$;
create function pg_temp.writes(p_path text) returns void language sql as $$
  select drive(pg_temp.other()), answer(jsonb_build_array(jsonb_build_array('write_file', jsonb_build_object('path', p_path))), pg_temp.other()),
         run('[]', pg_temp.other()), iteration_finish(pg_temp.other(), lease(pg_temp.other()));
$$;
create function pg_temp.finds(p_item uuid, p_content text) returns void language sql as $$
  select drive(p_item), answer(jsonb_build_array(jsonb_build_array('finding', p_content)), p_item), run('[]', p_item), iteration_finish(p_item, lease(p_item));
$$;
select submit('Wait for news'), pg_temp.news();
select is(pg_temp.news(), null, 'who asked for nothing is told of nothing');
select drive(), answer(format('[["notify_me", {"path": "./src/a.ts", "always": true}], ["notify_me", {"text": "FLAKY"}], ["notify_me", {"work_item_id": "%s"}]]', pg_temp.other())::jsonb), run();
select is((select array_agg(result #>> '{}' order by ordinal) from tool_calls where turn_id = turn()),
  '{"You will be told every time, with the news.","You will be told once, with the news.","You will be told once, with the news."}', 'it is told how often');
select iteration_finish(item(), lease());
select is(pg_temp.news(), null, 'nothing has happened yet');
select pg_temp.writes('src/b.ts');
select is(pg_temp.news(), null, 'another file is no news');
select pg_temp.writes('src/a.ts');
select is(pg_temp.news(), '- src/a.ts was changed (Worker/analyze, 2m ago)', 'that file is');
select is(pg_temp.news(), null, 'once told it is no news');
select pg_temp.writes('src/a.ts');
select is(pg_temp.news(), '- src/a.ts was changed (Worker/analyze, 2m ago)', 'the next change is told, too');
select pg_temp.writes('src/a.ts');
select is(pg_temp.news('10 seconds'), '- src/a.ts was changed (Worker/analyze, just now)', 'so is one of just now');
set local timezone = 'Asia/Tokyo';
select is(pg_temp.news('10 seconds'), null, 'once, also where the next request is made in a session that writes times otherwise');
reset timezone;
select pg_temp.finds(item(), 'My own test is flaky'), pg_temp.finds(pg_temp.other(), 'The import is slow');
select is(pg_temp.news(), null, 'neither one''s own words nor others');
select pg_temp.finds(pg_temp.other(), 'Test 3 is flaky since Monday');
select later('1 minute'), drive();
select ok(told((select max(n)::integer from work_test.request where item = item())) like '%What you asked to be told about:%"FLAKY": Test 3 is flaky since Monday%', 'a text is found in any case');
select work_message(item(), 'Wait', true);
select matches(pg_temp.news(), '"FLAKY": Test 3 is flaky since Monday', 'a request that was given up told nothing');
select is((select count(*) from messages m, regexp_matches(m.content::text, 'Test 3 is flaky', 'g') where m.turn_id = turn() and m.metadata ->> 'kind' = 'digest'), 1::bigint,
  'what it asked for is not told among the findings, too');
select pg_temp.finds(pg_temp.other(), 'Test 4 is flaky, too');
select is(pg_temp.news(), null, 'once is once');
select pg_temp.finds(pg_temp.other(), 'Test 4 hangs'), drive();
select answer('[["notify_me", {"text": "Test 4", "always": true}]]'), run(), iteration_finish(item(), lease()), drive();
select is((select count(*) from messages m where m.turn_id = turn() and m.content::text like '%asked to be told%'), 0::bigint,
  'what was told as news just before is no news to who asks for it then');
select answer('[["look"]]'), run(), iteration_finish(item(), lease());
select pg_temp.finds(pg_temp.other(), 'Test 4 passes now');
select matches(pg_temp.news(), '"Test 4": Test 4 passes now', 'the next one is');
select drive(pg_temp.other()), work_complete(pg_temp.other(), 'All is well', p_lease => lease(pg_temp.other()));
select is(pg_temp.news(), format('- Work %s (analyze) is completed: All is well (2m ago)', pg_temp.other()), 'the end of work is told');
select is(pg_temp.news(), null, 'once');
select is((select count(*) from subscriptions where told_at is not null), 4::bigint, 'it is noted that it was told');

select * from finish();
rollback;
