-- The API takes ids of letters, digits, _ and -, each once in a conversation: a call with another id is sent with one of its own.
begin;
select plan(9);

select agent('{"tools": ["look"], "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select submit('Find why the import is slow');
create function pg_temp.turn(p_ids json) returns void language sql as $$
  select drive(), turn_record(item(), lease(), turn(), json_build_object('stop_reason', 'tool_use', 'content', (
    select json_agg(json_strip_nulls(json_build_object('type', 'tool_use', 'id', i.id, 'name', 'look', 'input', '{}'::json))) from json_array_elements_text(p_ids) i(id)))), run(), iteration_finish(item(), lease());
$$;
select pg_temp.turn(json_build_array('toolu_1', 'call|x y:z', E'two\nlines', repeat('a', 64), repeat('a', 65), '', null, 'é', 'twice', 'twice'));
select pg_temp.turn('["toolu_1", "toolu_2"]');

create temporary table sent as
  select b.value ->> 'type' as type, coalesce(b.value ->> 'id', b.value ->> 'tool_use_id') as id, m.n as message, b.n
    from context_window(focus()) w, json_array_elements(w.messages) with ordinality as m(value, n), json_array_elements(m.value -> 'content') with ordinality as b(value, n)
   where b.value ->> 'type' in ('tool_use', 'tool_result');
select is((select count(*) from sent where id !~ '^[a-zA-Z0-9_-]{1,64}$'), 0::bigint, 'every id is one that the API takes');
select is((select count(distinct id) from sent where type = 'tool_use'), 12::bigint, 'every id stands in the conversation once');
select is((select array_agg(id order by message, n) from sent where type = 'tool_result'), (select array_agg(id order by message, n) from sent where type = 'tool_use'), 'results name their calls by the ids that are sent');
select is((select array_agg(ordinal order by ordinal) from tool_calls where given_id is null and turn_id = (select id from turns where iteration = 1)), array[0, 3, 6, 8], 'an id that can stand stays');
select is((select given_id from tool_calls where ordinal = 1 and provider_id <> 'toolu_2'), 'call|x y:z', 'the id that the provider gave is kept where it cannot be sent');
select is((select array_agg(b ->> 'id' order by x.n) from messages m, json_array_elements(content) with ordinality as x(b, n) where m.turn_id = (select id from turns where iteration = 1) and role = 'assistant'),
  array['toolu_1', 'call|x y:z', E'two\nlines', repeat('a', 64), repeat('a', 65), '', null, 'é', 'twice', 'twice'], 'the message is stored as it came');
select is((select array_agg(given_id order by ordinal) from tool_calls where turn_id = (select id from turns where iteration = 2)), array['toolu_1', null], 'an id of an earlier response is not given again');
select is((select count(*) from json_object_keys((select m.sent_content -> 1 from messages m where m.turn_id = (select id from turns where iteration = 1) and role = 'assistant'))), 4::bigint, 'nothing but the id of a call is changed');
select is((select sent_content::text from messages m where role = 'assistant' and turn_id = (select id from turns where iteration = 3)), null, 'a message that can be sent as it is is stored once');

select * from finish();
rollback;
