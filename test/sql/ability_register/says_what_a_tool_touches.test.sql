-- p_touches says which keys of a tool's input name what a call touches, and how.
begin;
select plan(12);

create function pg_temp.puts(p_touches json, p_name text default 'put') returns text language sql as $$
  select name from ability_register(p_name, 'Puts.', '{"type": "object", "properties": {"name": {}, "files": {}, "mode": {}, "path": {}, "diff": {}}}', p_touches => p_touches)
$$;
create function pg_temp.touched(p_input text, p_name text default 'put') returns text language sql as $$
  select string_agg(format('%s %s %s', kind, action, target), ', ' order by ordinal) from _touches_of(_touch_rules_of(p_name), p_input::json)
$$;

select from pg_temp.puts('[{"key": "name", "action": "create"}, {"key": "files.path", "action": "delete", "kind": "record"}, {"key": "diff", "form": "patch"}]');
select is(pg_temp.touched('{"name": "./a", "files": [{"path": "b"}, {"path": 7}, {}], "diff": "*** Begin Patch\n*** Update File: c\n@@\n*** End Patch"}'), 'path create a, record delete b, record delete 7, path modify c', 'a key, a key within objects and a patch name what is touched');
select from pg_temp.puts('[{"key": "path", "action": "read", "when": {"mode": ["r", "rb"]}}, {"key": "path", "action": "modify", "when": {"mode": "w\"x", "name": 1}}]');
select is(array[pg_temp.touched('{"path": "a", "mode": "rb"}'), pg_temp.touched('{"path": "a", "mode": "w\"x", "name": 1}'), pg_temp.touched('{"path": "a", "mode": "w\"x"}'), pg_temp.touched('{"name": "a"}')], array['path read a', 'path modify a', null, null], '"when" makes a rule depend on other keys');
select is((select count(*) from touch_rules where not is_builtin), 2::bigint, 'the newest registration replaces the rules of the one before');
create temporary table before as select ctid::text as place from touch_rules where not is_builtin;
select from pg_temp.puts('[{"key": "path", "action": "read", "when": {"mode": ["r", "rb"]}}, {"key": "path", "action": "modify", "when": {"mode": "w\"x", "name": 1}}]');
select set_eq('select ctid::text as place from touch_rules where not is_builtin', 'select * from before', 'registering the same rules again changes nothing');
select pg_temp.puts('[{"key": "name", "action": "modify"}]', 'edit_file'), pg_temp.puts('[{"key": "name", "action": "read"}]', 'my:tool');
select is(array[pg_temp.touched('{"name": "a", "path": "b"}', 'edit_file'), pg_temp.touched('{"name": "a"}', 'my_tool'), pg_temp.touched('{"name": "a"}', 'my:tool')], array['path modify a', 'path read a', 'path read a'], 'rules stand for the built-in ones of that name, under every name that calls have');
select from pg_temp.puts('[]', 'edit_file');
select is(pg_temp.touched('{"path": "b"}', 'edit_file'), null, 'with an empty list a tool touches nothing');
select from pg_temp.puts(null, 'edit_file');
select is(pg_temp.touched('{"path": "b"}', 'edit_file'), 'path modify b', 'without a list a tool touches what its name says');

-- How many of them are refused.
create function pg_temp.wrong(p_touches json[]) returns bigint language plpgsql as $$
declare
  v_n bigint := 0;
  v_touches json;
begin
  foreach v_touches in array p_touches loop
    begin
      perform pg_temp.puts(v_touches);
      raise notice '%', v_touches;
    exception when sqlstate 'WL002' then
      v_n := v_n + 1;
    end;
  end loop;
  return v_n;
end
$$;
select is(pg_temp.wrong(array['{}', '"path"', '["path"]', '[{}]', '[{"key": "name"}]', '[{"key": "name", "action": "move"}]', '[{"key": "", "action": "read"}]', '[{"key": "files.", "action": "read"}]', '[{"key": 7, "action": "read"}]']::json[]), 9::bigint, 'what is no list of keys and actions is refused');
select is(pg_temp.wrong(array['[{"key": "name", "action": "read", "kind": "file"}]', '[{"key": "name", "action": "read", "acton": 1}]', '[{"key": "diff", "form": "patch", "action": "modify"}]', '[{"key": "diff", "form": "patch", "kind": "url"}]', '[{"key": "diff", "form": "sed"}]']::json[]), 5::bigint, 'an unknown kind, key or form is refused');
select is(pg_temp.wrong(array['[{"key": "nmae", "action": "read"}]', '[{"key": "name", "action": "read", "when": {"mdoe": 1}}]', '[{"key": "name", "action": "read", "when": "mode"}]', '[{"key": "name", "action": "read", "when": {"mode": {"a": 1}}}]']::json[]), 4::bigint, 'a key that the input does not have is refused');
select throws_like($$ select pg_temp.puts('[{"key": "name", "action": "read"}, {"key": "nmae", "action": "read"}]') $$, 'touch 2 of ability "put" names "nmae", which its input does not have', 'the error says which rule names a key that is not there');
select is((select count(*) from touch_rules where not is_builtin and tool_name = 'put'), 2::bigint, 'a refused registration changes no rules');

select * from finish();
rollback;
