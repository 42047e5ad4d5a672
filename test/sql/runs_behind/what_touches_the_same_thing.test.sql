begin;
select plan(10);
set local work_ledger.now = '2026-03-01 12:00+00';

select results_eq($$ select p, _path_plain(p) from unnest(array['a', 'A.TXT', './a', 'a//b/./c/', 'x/../a', '../a', 'x/y/../../a', '/w/x/../a/', '.', 'a/..', '...', 'a/.']) p $$,
  $$ values ('a', 'a'), ('A.TXT', 'a.txt'), ('./a', 'a'), ('a//b/./c/', 'a/b/c'), ('x/../a', 'a'), ('../a', '../a'), ('x/y/../../a', 'a'), ('/w/x/../a/', '/w/a'), ('.', ''), ('a/..', ''), ('...', '...'), ('a/.', 'a') $$, 'one path, however it is written');
select results_eq($$ select _paths_meet(v.a, v.b) and _paths_meet(v.b, v.a) from (values ('a', 'a'), ('src', 'src/a'), ('', 'a'), ('/home/agent/src/a', 'src/a'), ('/home/agent/src/a', 'src'), ('/w', '/w/a')) v(a, b) $$,
  $$ select true from generate_series(1, 6) $$, 'the same file, a directory above it, an absolute name for it');
select results_eq($$ select _paths_meet(v.a, v.b) or _paths_meet(v.b, v.a) from (values ('a', 'b'), ('src', 'src2/a'), ('/home/agent/b', 'a'), ('/home/agent/xa', 'a'), ('/w', '/wa')) v(a, b) $$,
  $$ select false from generate_series(1, 5) $$, 'and no others');

select from faculty_save('{"name": "worker", "accepts": ["work"], "awareness": {"enabled": false}, "engage": {"code_execution": true, "tools": ["read_file", "edit_file", "write_file", "grep", "bash", "web_fetch", "put", "count"]}}');
select from faculty_save('{"name": "one by one", "accepts": ["slow"], "awareness": {"enabled": false}, "engage": {"parallel_tool_execution": false, "tools": ["read_file", "count"]}}');
select ability_register(n, n, '{"type": "object"}', 'unsafe', 'safe') from unnest(array['read_file', 'edit_file', 'write_file', 'grep', 'bash', 'web_fetch', 'execute_code']) n;
select from ability_register('put', 'Puts.', '{"type": "object"}', 'unsafe', 'safe', p_touches => '[{"key": "key", "kind": "record", "action": "modify"}]');
create function pg_temp.count(p_input jsonb) returns text language sql as $$ select 'one' $$;
select from ability_register('count', 'Counts.', '{"type": "object"}', 'pure', 'safe', 'pg_temp.count(jsonb)', p_touches => '[{"key": "key", "kind": "record", "action": "read"}]');

create temporary table item (id uuid, lease uuid, turn uuid, calls json);
-- Answers an item's first request with calls {tool, input}; each is then named by its number.
create function pg_temp.answer(p_type text, p_calls json) returns void language plpgsql as $$
declare
  v_item uuid := (work_submit(p_type, 'Work ' || (select count(*) from work_items))).id;
  v_lease uuid := (focus_claim(v_item, 'w') ->> 'lease')::uuid;
  v_turn uuid := (iteration_begin(v_item, v_lease) ->> 'turn_id')::uuid;
begin
  delete from item;
  insert into item values (v_item, v_lease, v_turn, turn_record(v_item, v_lease, v_turn, json_build_object('stop_reason', 'tool_use', 'content', (
    select json_agg(json_build_object('type', 'tool_use', 'id', 'c' || n, 'name', c ->> 0, 'input', c -> 1) order by n) from json_array_elements(p_calls) with ordinality as t(c, n)))) -> 'calls');
end
$$;
create function pg_temp.numbers(p_ids uuid[]) returns text language sql as $$
  select string_agg(coalesce(substr(k.provider_id, 2), '?'), ' ' order by k.provider_id) from tool_calls k where k.id = any (p_ids)
$$;
create function pg_temp.behind() returns text language sql as $$
  select string_agg(format('%s<%s', n, coalesce(pg_temp.numbers(array(select b::uuid from json_array_elements_text(c -> 'behind') b)), '')), ' ' order by n)
    from item, json_array_elements(calls) with ordinality as t(c, n)
$$;
create function pg_temp.call(p_n text) returns uuid language sql as $$ select k.id from item join tool_calls k on k.turn_id = item.turn where k.provider_id = 'c' || p_n $$;

select pg_temp.answer('work', '[["edit_file", {"path": "a"}], ["edit_file", {"path": "./a"}], ["edit_file", {"path": "b"}], ["read_file", {"path": "x/../a"}], ["read_file", {"path": "a"}], ["write_file", {"path": "/home/agent/a"}], ["grep", {"path": ".", "pattern": "x"}]]');
select is(pg_temp.behind(), '1< 2<1 3< 4<1 2 5<1 2 6<1 2 4 5 7<1 2 3', 'a change waits for what came before it, what reads waits for changes, in the model''s order');
select is(pg_temp.numbers(tool_call_begin(id, lease, pg_temp.call('2'))), '1', 'none of them begins before its turn') from item;
select tool_call_begin(id, lease, pg_temp.call('1')), tool_call_settle(id, lease, pg_temp.call('1'), 'done') from item;
select is(tool_call_begin(id, lease, pg_temp.call('2')), '{}', 'and each does when those before it have ended') from item;

select pg_temp.answer('work', '[["put", {"key": "k"}], ["put", {"key": "k"}], ["put", {"key": "l"}], ["count", {"key": "k"}], ["web_fetch", {"url": "http://a"}], ["web_fetch", {"url": "http://a"}], ["ledger_read", {}], ["bash", {"command": "cat a"}], ["bash", {"command": "make"}], ["bash", {"command": "make"}]]');
select is(pg_temp.behind(), '1< 2<1 3< 4<1 2 5< 6< 7<4 8< 9< 10<', 'records too; SQL tools keep their order; what only reads, or says nothing, runs beside everything');
select is(array[pg_temp.numbers(tool_call_execute(id, lease, pg_temp.call('4'))), (select status from tool_calls where id = pg_temp.call('4'))], array['1 2', 'pending'], 'a SQL tool waits as well') from item;

select pg_temp.answer('slow', '[["read_file", {"path": "a"}], ["count", {}], ["read_file", {"path": "b"}], ["ledger_read", {}]]');
select is(pg_temp.behind(), '1< 2<1 3<2 4<3', 'one after another, where the faculty wants it so');

-- Code: its calls wait for each other and for those of the response.
select pg_temp.answer('work', '[["edit_file", {"path": "a"}], ["execute_code", {"code": "x"}], ["edit_file", {"path": "b"}], ["edit_file", {"path": "c"}]]');
select tool_call_begin(id, lease, pg_temp.call('2')), tool_call_begin(id, lease, pg_temp.call('3')) from item;
select tool_call_nested(id, lease, pg_temp.call('2'), (n - 1)::integer, 'write_file', json_build_object('path', path)) from item, unnest(array['a', 'b', 'c', 'c', 'd']) with ordinality as u(path, n);
select results_eq($$ select pg_temp.numbers(tool_call_begin(id, lease, pg_temp.call('2.' || n))) from item, generate_series(1, 5) n $$,
  $$ values ('1'), ('3'), (null), ('2.3'), (null) $$, 'for what the model made before the code, for what runs, for none that has not begun');
select * from finish();
rollback;
