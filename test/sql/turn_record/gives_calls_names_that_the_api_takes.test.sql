-- The API takes names of 1 to 128 letters, digits, _ and -: a call of a tool with another name is sent under one that can stand, and stored as it came.
begin;
select plan(6);

select agent('{"tools": ["look"], "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select submit('Find why the import is slow');
create temporary table given as select json_build_array('look', 'a.b', '', repeat('n', 200), E'two\nlines', 'ä', null, repeat('n', 128)) as names;
select drive();
select turn_record(item(), lease(), turn(), json_build_object('stop_reason', 'tool_use', 'content', (
  select json_agg(json_build_object('type', 'tool_use', 'id', 'toolu_' || n, 'name', i.name, 'input', '{}'::json) order by n)
    from given, json_array_elements_text(names) with ordinality as i(name, n))));
select run();
select iteration_finish(item(), lease());
select play('[[{"type": "tool_use", "id": "t", "input": {}}], [["look"]]]'); -- one without a name

create temporary table sent as
  select m.value ->> 'role' as role, b.value, b.value ->> 'name' as name, m.n as message, b.n
    from context_window(focus()) w, json_array_elements(w.messages) with ordinality as m(value, n), json_array_elements(m.value -> 'content') with ordinality as b(value, n)
   where b.value ->> 'type' in ('tool_use', 'tool_result');
select is((select count(*) from sent where role = 'assistant' and coalesce(name, '') !~ '^[a-zA-Z0-9_-]{1,128}$'), 0::bigint, 'every name is one that the API takes');
select is((select array_agg(name order by message, n) from sent where role = 'assistant'),
  array['look', 'a_b', 'unnamed', repeat('n', 128), 'two_lines', '_', 'unnamed', repeat('n', 128), 'unnamed', 'look'], 'a name keeps what of it can stand');
select is((select array_agg(tool_name order by ordinal) from tool_calls where turn_id = (select id from turns where iteration = 1)),
  array['look', 'a.b', '', repeat('n', 200), E'two\nlines', 'ä', '', repeat('n', 128)], 'a call is stored under the name that came');
select is((select array_agg(b ->> 'name' order by x.n) from messages m, json_array_elements(content) with ordinality as x(b, n) where m.turn_id = (select id from turns where iteration = 1) and role = 'assistant'),
  array(select json_array_elements_text(names) from given), 'the message is stored as it came');
select is((select sent_content -> 1 #>> '{}' from messages where turn_id = (select id from turns where iteration = 1) and role = 'assistant'),
  '{"type":"tool_use","id":"toolu_2","name":"a_b","input":{}}', 'nothing but the name of a call is changed');
select is((select sent_content::text from messages m where role = 'assistant' and turn_id = (select id from turns where iteration = 3)), null, 'a message that can be sent as it is is stored once');

select * from finish();
rollback;
