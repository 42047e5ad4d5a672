-- Calls of one response that touch the same thing run one behind the other where one of them changes it; all others run side by side.
begin;
select plan(10);
set local work_ledger.now = '2026-03-01 12:00+00';

select results_eq($$ select p, _path_plain(p) from unnest(array['a', 'A.TXT', './a', 'a//b/./c/', 'x/../a', '../a', 'x/y/../../a', '/w/x/../a/', '.', 'a/..', '...', 'a/.']) p $$,
  $$ values ('a', 'a'), ('A.TXT', 'a.txt'), ('./a', 'a'), ('a//b/./c/', 'a/b/c'), ('x/../a', 'a'), ('../a', '../a'), ('x/y/../../a', 'a'), ('/w/x/../a/', '/w/a'), ('.', ''), ('a/..', ''), ('...', '...'), ('a/.', 'a') $$, 'a path is one, however it is written');
select results_eq($$ select _paths_meet(v.a, v.b) and _paths_meet(v.b, v.a) from (values ('a', 'a'), ('src', 'src/a'), ('', 'a'), ('/home/agent/src/a', 'src/a'), ('/home/agent/src/a', 'src'), ('/w', '/w/a')) v(a, b) $$,
  $$ select true from generate_series(1, 6) $$, 'the same file, a directory above it and an absolute name for it meet');
select results_eq($$ select _paths_meet(v.a, v.b) or _paths_meet(v.b, v.a) from (values ('a', 'b'), ('src', 'src2/a'), ('/home/agent/b', 'a'), ('/home/agent/xa', 'a'), ('/w', '/wa')) v(a, b) $$,
  $$ select false from generate_series(1, 5) $$, 'other paths do not meet');

select from faculty_save('{"name": "worker", "accepts": ["analyze"], "awareness": {"enabled": false}, "engage": {"code_execution": true, "tools": ["read_file", "edit_file", "write_file", "grep", "bash", "web_fetch", "put", "count"]}}');
select from faculty_save('{"name": "one by one", "accepts": ["slow"], "awareness": {"enabled": false}, "engage": {"parallel_tool_execution": false, "tools": ["read_file", "count"]}}');
select ability_register(n, n, '{"type": "object"}', 'unsafe', 'safe') from unnest(array['read_file', 'edit_file', 'write_file', 'grep', 'bash', 'web_fetch', 'execute_code']) n;
select from ability_register('put', 'Puts.', '{"type": "object"}', 'unsafe', 'safe', p_touches => '[{"key": "key", "kind": "record", "action": "modify"}]');
create function pg_temp.count(p_input jsonb) returns text language sql as $$ select 'one' $$;
select from ability_register('count', 'Counts.', '{"type": "object"}', 'pure', 'safe', 'pg_temp.count(jsonb)', p_touches => '[{"key": "key", "kind": "record", "action": "read"}]');

-- Answers the first request of new work with calls; each is then named by its number.
create temporary table asked (calls json);
create function pg_temp.answer(p_type text, p_calls jsonb) returns void language plpgsql as $$
begin
  perform submit('Work ' || (select count(*) from work_items), p_type), drive();
  delete from asked;
  insert into asked select answer(p_calls) -> 'calls';
end
$$;
create function pg_temp.numbers(p_ids uuid[]) returns text language sql as $$
  select string_agg(split_part(k.provider_id, '_', 2), ' ' order by k.provider_id) from tool_calls k where k.id = any (p_ids)
$$;
create function pg_temp.behind() returns text language sql as $$
  select string_agg(format('%s<%s', n, coalesce(pg_temp.numbers(array(select b::uuid from json_array_elements_text(c -> 'behind') b)), '')), ' ' order by n)
    from asked, json_array_elements(calls) with ordinality as t(c, n)
$$;
create function pg_temp.call(p_n text) returns uuid language sql as $$ select id from tool_calls where turn_id = turn() and split_part(provider_id, '_', 2) = p_n $$;

select pg_temp.answer('analyze', '[["edit_file", {"path": "a"}], ["edit_file", {"path": "./a"}], ["edit_file", {"path": "b"}], ["read_file", {"path": "x/../a"}], ["read_file", {"path": "a"}], ["write_file", {"path": "/home/agent/a"}], ["grep", {"path": ".", "pattern": "x"}]]');
select is(pg_temp.behind(), '1< 2<1 3< 4<1 2 5<1 2 6<1 2 4 5 7<1 2 3', 'a change waits for what came before it, what reads waits for changes, in the model''s order');
select is(pg_temp.numbers(tool_call_begin(item(), lease(), pg_temp.call('2'))), '1', 'no call begins before its turn');
select tool_call_begin(item(), lease(), pg_temp.call('1')), tool_call_settle(item(), lease(), pg_temp.call('1'), 'done');
select is(tool_call_begin(item(), lease(), pg_temp.call('2')), '{}', 'a call begins when those before it have ended');

select pg_temp.answer('analyze', '[["put", {"key": "k"}], ["put", {"key": "k"}], ["put", {"key": "l"}], ["count", {"key": "k"}], ["web_fetch", {"url": "http://a"}], ["web_fetch", {"url": "http://a"}], ["ledger_read", {}], ["bash", {"command": "cat a"}], ["bash", {"command": "make"}], ["bash", {"command": "make"}]]');
select is(pg_temp.behind(), '1< 2<1 3< 4<1 2 5< 6< 7<4 8< 9< 10<', 'records meet as files do, SQL tools keep their order, and what only reads or says nothing runs beside everything');
select is(array[pg_temp.numbers(tool_call_execute(item(), lease(), pg_temp.call('4'))), (select status from tool_calls where id = pg_temp.call('4'))], array['1 2', 'pending'], 'a SQL tool waits for those before it');

select pg_temp.answer('slow', '[["read_file", {"path": "a"}], ["count", {}], ["read_file", {"path": "b"}], ["ledger_read", {}]]');
select is(pg_temp.behind(), '1< 2<1 3<2 4<3', 'without parallel tool execution calls run one after another');

-- Code: its calls wait for each other and for those of the response.
select pg_temp.answer('analyze', '[["edit_file", {"path": "a"}], ["execute_code", {"code": "x"}], ["edit_file", {"path": "b"}], ["edit_file", {"path": "c"}]]');
select tool_call_begin(item(), lease(), pg_temp.call('2')), tool_call_begin(item(), lease(), pg_temp.call('3'));
select tool_call_nested(item(), lease(), pg_temp.call('2'), (n - 1)::integer, 'write_file', json_build_object('path', path)) from unnest(array['a', 'b', 'c', 'c', 'd']) with ordinality as u(path, n);
select results_eq($$ select pg_temp.numbers(tool_call_begin(item(), lease(), pg_temp.call('2.' || n))) from generate_series(1, 5) n $$,
  $$ values ('1'), ('3'), (null), ('2.3'), (null) $$, 'a call of code waits for what the model made before the code and for what runs, and for none that has not begun');

select * from finish();
rollback;
