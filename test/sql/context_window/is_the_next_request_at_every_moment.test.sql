-- context_window() shows the request that comes next, at every moment of a focus, or the last one of work that is over.
begin;
select plan(12);
set local work_ledger.now = '2026-01-01 12:00:00+00';

select agent('{"tools": ["look"], "ledger_nudge_interval": 0, "max_output_tokens": 1000}');
select from faculty_save('{"name": "small", "accepts": ["small"], "engage": {"tools": ["look"], "ledger_nudge_interval": 0, "context_window": 10000, "compact_keep_recent": 2}}');
select from work_submit('analyze', 'Something else that goes on');
create function pg_temp.shown() returns text language sql as $$ select w.request::text from context_window(focus()) w $$;
create function pg_temp.last() returns text language sql as $$ select body::text from request order by n desc limit 1 $$;

select submit('Find why the import is slow');
select claim();
create temporary table first as select pg_temp.shown() as request;
select begin_iteration(), answer('["I"]', p_more => '{"stop_reason": "max_tokens"}');
select is((select regexp_replace(request, 'data-[0-9a-f]{12}', 'data-x', 'g') from first), regexp_replace(pg_temp.last(), 'data-[0-9a-f]{12}', 'data-x', 'g'), 'before the first request that one is shown, but for markers that are drawn when it is made');
select iteration_finish(item(), lease());
select is(pg_temp.shown()::json ->> 'max_tokens', '2000', 'after a response that was cut off the output limit that was raised is shown');
select from work_message(item(), 'Only March, please');
create temporary table second as select pg_temp.shown() as request;
select drive(), answer('[["look"]]');
select is((select request from second), pg_temp.last(), 'between iterations the next request is shown, with what people said meanwhile');
select is(pg_temp.shown(), pg_temp.last(), 'while calls are open the request under way is shown');
select run();
select is(pg_temp.shown(), pg_temp.last(), 'until the iteration is finished the request under way is shown');
select iteration_finish(item(), lease());
select alike(pg_temp.shown(), '%"content":"seen"}]}]}', 'after the iteration the request with the results is shown');
select drive(), answer('["Found"]');
select iteration_finish(item(), lease());
select is((select array[state, pg_temp.shown()] from item), array['completed', pg_temp.last()], 'of work that is over the last request is shown');

select submit('Read it all', 'small');
select play(format('[[["look", "%s"]]]', repeat('x', 8000))::jsonb, p_more => jsonb_build_object('model', 'm', 'usage', jsonb_build_object('input_tokens', n * 2500, 'output_tokens', 10))) from generate_series(1, 2) n;
select claim();
select alike(pg_temp.shown(), format('%%"tool_use_id":"%s"%%', (select provider_id from tool_calls where turn_id = turn())), 'before a summary is asked for what it will shorten is shown');
select isnt(begin_iteration() ->> 'turn_id', null, 'while a summary is written …');
select is(array[pg_temp.shown(), (pg_temp.shown()::json #>> '{system,0,text}' like 'You summarize%')::text], array[pg_temp.last(), 'true'], '… the request that asks for it is shown');

select submit('Not begun');
select claim();
select from work_cancel(item());
select is((select count(*) from context_window(focus())), 0::bigint, 'of work that ended before its first request nothing is shown');
select throws_ok($$ select context_window(gen_random_uuid()) $$, 'WL001', null, 'a focus that is not there is an error');

select * from finish();
rollback;
