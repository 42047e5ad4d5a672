-- Code that calls a tool of the engine gets all that it returned, however long; the model would be shown a part, and can ask again.
begin;
select plan(3);

select tool('execute_code', 'idempotent');
select agent('{"code_execution": true, "tools": ["look"], "max_result_chars": 1000}');
select submit('Fix it');
select ledger_append(item(), 'note', format('Row %s. %s', n, repeat('x', 500))) from generate_series(1, 9) n;
select drive(), answer('[["execute_code", {"code": "x"}]]'), tool_call_begin(item(), lease(), call('t1_1'));
select is(tool_call_nested(item(), lease(), call('t1_1'), 0, 'ledger_read', '{}') ->> 'kind', 'run', 'the code reads the ledger');
select tool_call_execute(item(), lease(), call('t1_1.1'));
create temporary table read as select tool_call_nested(item(), lease(), call('t1_1'), 0, 'ledger_read', '{}') ->> 'content' as content;
select cmp_ok((select length(content) from read), '>', 4500, 'it gets more than a model would be shown');
select is((select count(*) from read, generate_series(1, 9) n where strpos(content, format('Row %s.', n)) > 0), 9::bigint, 'every entry');

select * from finish();
rollback;
