-- Results, arguments that a hook rewrote, and what a provider says of its answer are looked at when their row is written.
begin;
select plan(5);

select set_config('test.key', 'sk-' || 'ant-api03-' || repeat('aB3_', 10), true);
create function pg_temp.key() returns text language sql as $$ select current_setting('test.key') $$;

select agent('{"tools": ["look"]}');
select take(submit('Look'));
select drive();
select from turn_record(item(), lease(), turn(), json_build_object(
  'id', 'msg_1', 'request_id', 'req ' || pg_temp.key(), 'stop_reason', 'tool_use',
  'content', json_build_array(json_build_object('type', 'tool_use', 'id', 't1', 'name', 'look', 'input', json_build_object()))));
select is((select format('%s %s', response_id, request_id) from turns), 'msg_1 req [redacted]', 'the id of a request');

update tool_calls set rewritten_input = json_build_object('key', pg_temp.key());
select is((select rewritten_input::text from tool_calls), '{"key" : "[redacted]"}', 'arguments that were rewritten');

select from tool_call_begin(item(), lease(), call('t1'));
select from tool_call_settle(item(), lease(), call('t1'), 'It is ' || pg_temp.key());
select is((select result #>> '{}' from tool_calls), 'It is [redacted]', 'a result that is stored as it came');
select is((select sum(secrets) from redactions where place = 'tool_calls'), 2::bigint, 'each is counted once');

insert into messages (turn_id, sequence, role, source, content, metadata)
values (turn(), 5, 'user', 'engine', '[]', jsonb_build_object('note', pg_temp.key()));
select is((select metadata ->> 'note' from messages where sequence = 5), '[redacted]', 'what is said of a message');

select * from finish();
rollback;
