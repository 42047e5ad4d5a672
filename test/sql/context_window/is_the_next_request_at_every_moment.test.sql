begin;
select plan(12);
set local work_ledger.now = '2026-01-01 12:00:00+00';

select agent('{"tools": ["look"], "ledger_nudge_interval": 0, "max_output_tokens": 1000}');
select from faculty_save('{"name": "small", "accepts": ["small"], "engage": {"tools": ["look"], "ledger_nudge_interval": 0, "context_window": 10000, "compact_keep_recent": 2}}');
select from work_submit('analyze', 'Something else that goes on');
create temporary table claim (item uuid, lease uuid, focus uuid);
create function pg_temp.claim(p_item uuid) returns void language sql as $$
  insert into claim select p_item, (c ->> 'lease')::uuid, (c ->> 'focus_id')::uuid from focus_claim(p_item, 'w') c $$;
create temporary table begun (n serial, request text);
create function pg_temp.begin(p_item uuid) returns uuid language plpgsql as $$
declare
  v_begun json := iteration_begin(p_item, (select lease_token from work_items where id = p_item));
begin
  insert into begun (request) values (v_begun -> 'request');
  return v_begun ->> 'turn_id';
end
$$;
create function pg_temp.answer(p_item uuid, p_response text) returns void language sql as $$
  select turn_record(p_item, (select lease_token from work_items where id = p_item), pg_temp.begin(p_item), p_response::json) $$;
create function pg_temp.settle(p_item uuid, p_content text) returns void language sql as $$
  select tool_call_settle(p_item, (select lease_token from work_items where id = p_item), id, p_content) from tool_calls where work_item_id = p_item and completed_at is null $$;
create function pg_temp.finish(p_item uuid) returns void language sql as $$ select iteration_finish(p_item, (select lease_token from work_items where id = p_item)) $$;
create function pg_temp.shown(p_item uuid) returns text language sql as $$ select w.request::text from claim c, context_window(c.focus) w where c.item = p_item limit 1 $$;
create function pg_temp.last() returns text language sql as $$ select request from begun order by n desc limit 1 $$;

select submit('Find why the import is slow');
select from item, pg_temp.claim(id);
create temporary table first as select pg_temp.shown(id) as request from item;
select from item, pg_temp.answer(id, '{"stop_reason": "max_tokens", "content": [{"type":"text","text":"I"}]}');
select is((select regexp_replace(request, 'data-[0-9a-f]{12}', 'data-x', 'g') from first), regexp_replace(pg_temp.last(), 'data-[0-9a-f]{12}', 'data-x', 'g'), 'before the first request: it, but for markers that are drawn when it is made');
select from item, pg_temp.finish(id);
select is((select (pg_temp.shown(id)::json ->> 'max_tokens') from item), '2000', 'after a response that was cut off: with the output limit that was raised');
select from item, work_message(id, 'Only March, please');
create temporary table second as select pg_temp.shown(id) as request from item;
select from item, pg_temp.claim(id);
select from item, pg_temp.answer(id, '{"stop_reason": "tool_use", "content": [{"type":"tool_use","id":"a","name":"look","input":{}}]}');
select is((select request from second), pg_temp.last(), 'as it then comes, with what people said meanwhile');
select is((select pg_temp.shown(id) from item), pg_temp.last(), 'with calls open: the request under way');
select from item, pg_temp.settle(id, 'seen');
select is((select pg_temp.shown(id) from item), pg_temp.last(), 'until the iteration is finished');
select from item, pg_temp.finish(id);
select alike((select pg_temp.shown(id) from item), '%"content":"seen"}]}]}', 'then the one with their results');
select from item, pg_temp.claim(id);
select from item, pg_temp.answer(id, '{"stop_reason": "end_turn", "content": [{"type":"text","text":"Found"}]}');
select from item, pg_temp.finish(id);
select is((select array[i.state, pg_temp.shown(i.id)] from work_items i where i.id = item()), array['completed', pg_temp.last()], 'of work that is over: its last request');

create temporary table small as select * from work_submit('small', 'Read it all');
select from small, pg_temp.claim(id);
do $$ begin
  for n in 1..2 loop
    perform pg_temp.answer(id, format('{"model": "m", "stop_reason": "tool_use", "content": [{"type":"tool_use","id":"s%s","name":"look","input":{}}], "usage": {"input_tokens": %s, "output_tokens": 10}}', n, n * 2500)) from small;
    perform pg_temp.settle(id, repeat('x', 8000)) from small;
    perform pg_temp.finish(id) from small;
    perform pg_temp.claim(id) from small;
  end loop;
end $$;
select alike((select pg_temp.shown(id) from small), '%"tool_use_id":"s2"%', 'before a summary is asked for: what it will shorten');
select isnt((select pg_temp.begin(id) from small), null, 'while it is being written …');
select is((select array[pg_temp.shown(id), (pg_temp.shown(id)::json #>> '{system,0,text}' like 'You summarize%')::text] from small), array[pg_temp.last(), 'true'], '… the request that asks for it');

create temporary table never as select * from work_submit('analyze', 'Not begun');
select from never, pg_temp.claim(id);
select from never, work_cancel(id);
select is((select count(*) from claim c, context_window(c.focus) where c.item = (select id from never)), 0::bigint, 'of work that ended before its first request: no row');
select throws_ok($$ select context_window(gen_random_uuid()) $$, 'WL001', null, 'of a focus that is there');

select * from finish();
rollback;
