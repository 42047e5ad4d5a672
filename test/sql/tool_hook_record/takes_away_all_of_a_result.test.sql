-- Where a hook rewrites a result, neither the value that code would get nor its images are left of what was there.
begin;
select plan(4);

select tool('execute_code', 'idempotent');
select agent('{"code_execution": true, "tools": ["look"]}', '{"hooks": {"after_tool": "wash"}}');
select submit('Fix it');
create function pg_temp.washed(p_call uuid, p_stdout text) returns jsonb language sql as $$
  select tool_hook_record(item(), lease(), p_call, 'after_tool', jsonb_build_object('exit_code', 0, 'stdout', p_stdout), 'a face', p_images => '[{"media_type": "image/png", "data": "iVBORw0KGgo="}]', p_value => '{"face": "hers"}') $$;
select drive(), answer('[["execute_code", {"code": "x"}], ["look"]]'), tool_call_begin(item(), lease(), call('t1_1'));
select tool_call_nested(item(), lease(), call('t1_1'), n, 'look', '{}') from generate_series(0, 1) n;
select pg_temp.washed(call('t1_1.1'), '{"content": "(a picture)"}'), pg_temp.washed(call('t1_1.2'), ''), pg_temp.washed(call('t1_2'), '{"content": "(a picture)"}');
create function pg_temp.nested(p_n integer) returns jsonb language sql as $$ select tool_call_nested(item(), lease(), call('t1_1'), p_n, 'look', '{}')::jsonb - 'kind' $$;
select is(pg_temp.nested(0), '{"is_error": false, "content": "(a picture)", "value": null}', 'code gets what the hook made of it');
select is(pg_temp.nested(1) -> 'value', '{"face": "hers"}', 'and the value where the hook made nothing');
select is((select result #>> '{}' from tool_calls where id = call('t1_2')), '(a picture)', 'the model is shown what the hook made of it');
select is((select count(*) from artifacts a join artifact_uses u using (content_hash) where a.media_type is not null), 1::bigint, 'of the images one is stored: that which no hook took away');

select * from finish();
rollback;
