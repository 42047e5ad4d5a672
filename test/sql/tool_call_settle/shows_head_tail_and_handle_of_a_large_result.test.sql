begin;
select plan(9);

select agent('{"tools": ["look"]}');
select submit();
select drive();
select from turn_record(item(), lease(), turn(),
  '{"content": [{"type":"tool_use","id":"a","name":"look","input":{}}, {"type":"tool_use","id":"b","name":"look","input":{}}, {"type":"tool_use","id":"c","name":"look","input":{}}], "stop_reason": "tool_use"}');
create temporary table output as select 'HEAD' || repeat(E'line ü\n', 68570) || 'TAIL' as content;

select tool_call_settle(item(), lease(), id, (select content from output)) from tool_calls where provider_id in ('a', 'b');
select tool_call_settle(item(), lease(), id, repeat('x', 50000)) from tool_calls where provider_id = 'c';
create temporary table settled as select provider_id, result #>> '{}' as text, artifact_hash, is_truncated from tool_calls;

select matches((select text from settled where provider_id = 'a'), '^HEAD.*\[engine: 471998 of 479998 characters are not shown here; artifact_read\("[0-9a-f]{16}"\) reads them by range or pattern\].*TAIL$',
  'head, tail, how much is missing and the handle');
select ok((select char_length(text) < 8200 from settled where provider_id = 'a'), 'in about 8,000 characters');
select is((select count(*) from artifacts), 1::bigint, 'the same output twice is stored once');
select is((select content from artifacts), (select content from output), 'in full');
select is((select array_agg(artifact_hash is not null order by provider_id) from settled), array[true, true, false], 'what is within the limit stays as it is');
select is((select text from settled where provider_id = 'c'), repeat('x', 50000), 'to the character');
select is((select count(*) from settled where is_truncated), 0::bigint, 'nothing was lost');
select is(artifact_read(substring((select text from settled where provider_id = 'a') from '"([0-9a-f]{16})"'), '68570-68571'), E'line ü\nTAIL', 'the handle reads it');
select throws_ok($$ update artifacts set content = '' $$, 'WL007', null, 'and nobody rewrites it');

select * from finish();
rollback;
