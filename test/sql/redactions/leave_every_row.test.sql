-- Whoever writes a row, and whatever it is a row of: secrets are taken out before it is written, and counted.
begin;
select plan(13);

select set_config('test.key', 'sk-' || 'ant-api03-' || repeat('aB3_', 10), true);
create function pg_temp.key() returns text language sql as $$ select current_setting('test.key') $$;

select agent('{"tools": ["look"]}');
select take(work_submit('analyze', 'Use ' || pg_temp.key(), jsonb_build_object('token', pg_temp.key()), p_idempotency_key => 'once'));
select is((select id from work_submit('analyze', 'Use ' || pg_temp.key(), p_idempotency_key => 'once')), item(), 'a submission that is repeated is known again');
select is((select format('%s %s', description, params) from item), 'Use [redacted] {"token": "[redacted]"}', 'what is submitted');

select from ledger_append(item(), 'finding', 'It is ' || pg_temp.key(), jsonb_build_object('it', pg_temp.key(), 'n', 1.50), p_idempotency_key => 'k');
select is((select seq from ledger_append(item(), 'finding', 'It is ' || pg_temp.key(), p_idempotency_key => 'k')), 1, 'an append that is repeated is known again');
select is((select format('%s %s', content, data) from work_ledger), 'It is [redacted] {"n": 1.50, "it": "[redacted]"}', 'an entry and its data');
select is((select content from ledger_append(item(), 'note', 'Again ' || pg_temp.key())), 'Again [redacted]', 'an entry without data');
select throws_ok($$ insert into work_ledger (work_item_id, seq, entry_type, content) values (item(), 9, 'note', 'x') $$, 'WL002', null, 'numbers are still looked at');

select drive();
select from work_message(item(), 'and ' || pg_temp.key());
select set_config('test.thought', json_build_object('type', 'thinking', 'thinking', 'So ' || pg_temp.key(), 'signature', pg_temp.key())::text, true);
select from turn_record(item(), lease(), turn(), format('{"content": [%s, {"type": "text",  "text": "Look: %s"}, {"type": "tool_use", "id": "t1", "name": "look", "input": {"b": "%2$s", "a": 1.0}}], "stop_reason": "tool_use"}',
  current_setting('test.thought'), pg_temp.key())::json);
select is((select content ->> 0 from messages where role = 'assistant'), current_setting('test.thought'), 'a thought keeps its bytes: it is signed');
select is((select string_agg(b.value::text, ' ' order by b.n) from messages, json_array_elements(content) with ordinality b(value, n) where role = 'assistant' and b.n > 1),
  '{"type": "text",  "text": "Look: [redacted]"} {"type": "tool_use", "id": "t1", "name": "look", "input": {"b": "[redacted]", "a": 1.0}}', 'the rest keeps its bytes but for secrets');
select is((select input::text from tool_calls), '{"b": "[redacted]", "a": 1.0}', 'the input of a call');

select from tool_call_begin(item(), lease(), call('t1'));
select set_config('test.whole', repeat('line ' || pg_temp.key() || E'\n', 2000), true);
select from tool_call_settle(item(), lease(), call('t1'), format('See artifact_read("%s")', left(_content_hash(current_setting('test.whole')), 16)), p_whole => current_setting('test.whole'));
select is((select result #>> '{}' from tool_calls), format('See artifact_read("%s")', left(_content_hash(replace(current_setting('test.whole'), pg_temp.key(), '[redacted]')), 16)),
  'a handle names the artifact as it is stored');
select is((select a.content_hash = _content_hash(a.content) and strpos(a.content, pg_temp.key()) = 0 from artifacts a), true, 'whose hash is that of what it holds');

select results_eq($$ select place, sum(secrets)::integer from redactions where work_item_id = item() group by 1 order by 1 $$,
  $$ values ('inbox', 1), ('messages', 2), ('tool_calls', 2001), ('work_items', 2), ('work_ledger', 3) $$, 'each is counted where it was');
select results_eq($$ select labels ->> 'place', sum(value * times)::integer from work_metrics('-infinity', 'infinity') where metric = 'work.redactions' group by 1 order by 1 $$,
  $$ select place, sum(secrets)::integer from redactions group by 1 order by 1 $$, 'and so does the metric');

select * from finish();
rollback;
