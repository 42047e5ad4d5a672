-- What is behind a call that is held is held, too, though it touches nothing that waits for a person: the model's order stays.
begin;
select plan(3);

select ability_register(n, n, '{"type": "object"}', 'unsafe', r, p_touches => t::json) from (values
  ('ask', 'dangerous', '[{"key": "path", "action": "modify"}]'), ('move', 'safe', '[{"key": "path", "action": "modify"}, {"key": "to", "action": "modify"}]'),
  ('put', 'safe', '[{"key": "path", "action": "modify"}]')) v(n, r, t);
select agent('{"tools": ["ask", "move", "put"], "require_approval": "dangerous"}');
select submit('Fix it');
select drive();
create temporary table answer as select answer('[["ask", {"path": "a"}], ["move", {"path": "a", "to": "b"}], ["put", {"path": "b"}], ["put", {"path": "c"}]]') as said;
select is((select string_agg(c ->> 'ordinal', ' ') from answer, json_array_elements(said -> 'calls') c), '3', 'only what touches none of these runs');
select is((select string_agg(w ->> 'ordinal', ' ') from answer, json_array_elements(said -> 'waiting') w), '0 1 2', 'the others wait, one behind the other');
select is(tool_call_begin(item(), lease(), call('t1_3')), array[call('t1_3')], 'the last of them does not begin');

select * from finish();
rollback;
