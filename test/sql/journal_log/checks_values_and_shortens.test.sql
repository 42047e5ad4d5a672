-- What is logged is held against the values that its type may have; long input is shortened.
begin;
select plan(13);

select take(journal_session_create('chat-1', 'Build the thing'));
create function pg_temp.log(p_type text, p_content jsonb) returns jsonb language sql as $$ select content from journal_log(item(), p_type, p_content) $$;

select throws_ok($$ select pg_temp.log('tool_request', '{"toolName": "a", "toolInput": {}, "riskLevel": "banana"}') $$, 'WL002', '"riskLevel" of type tool_request cannot be "banana"', 'an unknown risk is refused');
select throws_ok($$ select pg_temp.log('tool_request', '{"toolName": [], "toolInput": {}, "riskLevel": "safe"}') $$, 'WL002', '"toolName" of type tool_request must be a string, not an array', 'a list for a name is refused');
select throws_ok($$ select pg_temp.log('file_written', '{"filePath": "a", "operation": "explode"}') $$, 'WL002', null, 'an unknown operation is refused');
select throws_ok($$ select pg_temp.log('file_written', '{"filePath": "a", "operation": "read"}') $$, 'WL002', null, 'a written file was not read');
select is(pg_temp.log('file_written', '{"filePath": "a", "operation": "delete"}'), '{"filePath": "a", "operation": "delete"}', 'a written file may be deleted');
select throws_ok($$ select pg_temp.log('thinking', '{"reasoning": "a", "planSteps": ["a", 1]}') $$, 'WL002', '"planSteps" of type thinking must be a list of strings', 'a list of anything but strings is refused');
select throws_ok($$ select pg_temp.log('summary', '{"periodCovered": {"start": 1}, "accomplishments": [], "currentStatus": "c", "nextSteps": []}') $$, 'WL002', null, 'a period without an end is refused');
select throws_ok($$ select pg_temp.log('session_end', '{"status": "gone"}') $$, 'WL002', null, 'an unknown end of a session is refused');

create temporary table long as select pg_temp.log('tool_request', jsonb_build_object('toolName', 'write_file', 'riskLevel', 'safe', 'toolInput', jsonb_build_object('path', 'a.ts', 'edits', jsonb_build_array(jsonb_build_object('content', repeat('x', 70000)))))) as content;
select ok(octet_length(content::text) < 20000, 'an input of 70 kB is shortened') from long;
select matches(content #>> '{toolInput,edits,0,content}', '^x{255}.*x{255}$', 'an input is shortened in its long string') from long;
select is(content #>> '{toolInput,path}', 'a.ts', 'the rest of a shortened input stays') from long;
select ok(octet_length(pg_temp.log('tool_request', jsonb_build_object('toolName', 'a', 'riskLevel', 'safe', 'toolInput', jsonb_build_object('many', (select jsonb_agg(repeat('y', 3000)) from generate_series(1, 30)))))::text) < 65536, 'many long strings are shortened more');
select is(jsonb_typeof(pg_temp.log('tool_request', jsonb_build_object('toolName', 'a', 'riskLevel', 'safe', 'toolInput', jsonb_build_object('n', (select jsonb_agg(n) from generate_series(1, 30000) n)))) #> '{toolInput,truncated}'), 'string', 'what is long without strings is told by its beginning');

select * from finish();
rollback;
