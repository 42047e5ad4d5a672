-- A large result is shown by head, tail and a handle that reads all of it; the whole is stored once.
begin;
select plan(9);

select agent('{"tools": ["look"]}');
select submit();
select drive();
select answer('[["look"], ["look"], ["look"]]');
create temporary table output as select 'HEAD' || repeat(E'line ü\n', 68570) || 'TAIL' as content;

select tool_call_settle(item(), lease(), id, (select content from output)) from tool_calls where ordinal < 2;
select tool_call_settle(item(), lease(), id, repeat('x', 50000)) from tool_calls where ordinal = 2;
create temporary table settled as select ordinal, result #>> '{}' as text, artifact_hash, is_truncated from tool_calls;

select matches((select text from settled where ordinal = 0), '^HEAD.*\[engine: 471998 of 479998 characters are not shown here; artifact_read\("[0-9a-f]{16}"\) reads them by range or pattern\].*TAIL$',
  'what is shown has head, tail, how much is missing and the handle');
select ok((select char_length(text) < 8200 from settled where ordinal = 0), 'what is shown has about 8,000 characters');
select is((select count(*) from artifacts), 1::bigint, 'the same output twice is stored once');
select is((select content from artifacts), (select content from output), 'the artifact has the whole result');
select is((select array_agg(artifact_hash is not null order by ordinal) from settled), array[true, true, false], 'a result within the limit stays as it is');
select is((select text from settled where ordinal = 2), repeat('x', 50000), 'a result within the limit is whole to the character');
select is((select count(*) from settled where is_truncated), 0::bigint, 'nothing was lost');
select is(artifact_read(substring((select text from settled where ordinal = 0) from '"([0-9a-f]{16})"'), '68570-68571'), E'line ü\nTAIL', 'the handle reads the artifact');
select throws_ok($$ update artifacts set content = '' $$, 'WL007', null, 'nobody rewrites an artifact');

select * from finish();
rollback;
