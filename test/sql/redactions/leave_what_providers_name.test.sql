-- Names and ids that models and providers write hold no secret either, and requests name such a call otherwise.
begin;
select plan(6);

create function pg_temp.key() returns text language sql immutable as $$ select 'sk-' || 'ant-api03-' || repeat('aB3_', 10) $$;

select agent('{"tools": ["look"]}');
select submit();
select drive();
select from turn_record(item(), lease(), turn(), format('{"id": "msg-%1$s", "request_id": "req-%1$s", "content": [
  {"type": "tool_use", "id": "%1$s", "name": "%1$s", "input": {}}, {"type": "tool_use", "id": "%1$s", "name": "look", "input": {}}], "stop_reason": "tool_use"}', pg_temp.key())::json);
select results_eq($$ select tool_name, given_id, left(provider_id, 5), status from tool_calls order by ordinal $$,
  $$ values ('[redacted]', '[redacted]', 'call_', 'failed'), ('look', '[redacted]', 'call_', 'pending') $$, 'neither the name of a tool nor the id of a call');
select is((select format('%s %s', response_id, request_id) from turns where id = turn()), 'msg-[redacted] req-[redacted]', 'nor the ids of response and request');
select is((select count(distinct provider_id)::integer from tool_calls), 2, 'calls keep ids of their own');
select run();
select from iteration_finish(item(), lease());
select drive();
select is((select array_agg(b ->> 'name') from json_array_elements(context_at(turn()) -> 'messages' -> 1 -> 'content') b), '{_redacted_,look}', 'the next request names the tool so that the API accepts it');
select is((select array_agg(b ->> 'id') from json_array_elements(context_at(turn()) -> 'messages' -> 1 -> 'content') b), (select array_agg(provider_id order by ordinal) from tool_calls),
  'and the calls as their results do');
select is(strpos(context_at(turn())::text, pg_temp.key()), 0, 'and the secret nowhere');

select * from finish();
rollback;
