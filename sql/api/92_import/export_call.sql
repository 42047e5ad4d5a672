-- Translates calls for another program: which of its tools does the same, and what its inputs are called.

create or replace function _export_tools()
  returns table (format text, name text, of_tools text[], keys jsonb, required text[])
  language sql
  immutable
  parallel safe
  rows 10
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with word(command, file, folder) as (
    values (
      string_to_array(
        'bash shell exec_command local_shell container_exec run_shell_command run_terminal_cmd run_terminal_command run_terminal_command_v2 '
        'run_in_terminal execute_command execute_bash run_command terminal', ' '),
      '(absolute|file|target)_?path|path|file_?name|target_?file|file', 'path|dir_?path|folder|directory|target_?directory')
  )
  select t.format, t.name, t.of_tools, t.keys, t.required
    from word w
   cross join lateral (values
     ('claude-code', 'Bash', w.command, jsonb_build_object('command', 'command|cmd|command_?line', 'description', 'description'), array['command']),
     ('claude-code', 'Read', '{read,read_file,readfile,read_text_file,read_file_v2,view,view_file}'::text[],
       jsonb_build_object('file_path', w.file, 'offset', 'offset', 'limit', 'limit'), array['file_path']),
     ('claude-code', 'Write', '{write,write_file,writefile,create,create_file,create_text_file,write_to_file}',
       jsonb_build_object('file_path', w.file, 'content', 'contents?|file_?text|text'), '{file_path,content}'),
     ('claude-code', 'Edit', '{edit,edit_file,replace,str_replace,search_replace,replace_string_in_file}',
       jsonb_build_object('file_path', w.file, 'old_string', 'old_?(string|str|text)', 'new_string', 'new_?(string|str|text)', 'replace_all', 'replace_?all'),
       '{file_path,old_string,new_string}'),
     ('claude-code', 'Glob', '{glob,glob_file_search}', jsonb_build_object('pattern', 'pattern|glob(_?pattern)?', 'path', w.folder), '{pattern}'),
     ('claude-code', 'Grep', '{grep,grep_search,search_file_content}',
       jsonb_build_object('pattern', 'pattern|query|regex', 'path', w.folder, 'glob', 'glob|include'), '{pattern}'),
     ('claude-code', 'WebFetch', '{web_fetch,webfetch,fetch}', jsonb_build_object('url', 'url', 'prompt', 'prompt'), '{url,prompt}'),
     ('claude-code', 'WebSearch', '{web_search,websearch,google_web_search}', jsonb_build_object('query', 'query|q'), '{query}'),
     ('codex', 'exec_command', w.command, jsonb_build_object('cmd', 'command|cmd|command_?line', 'workdir', 'workdir|cwd|dir_?path'), '{cmd}'))
     as t(format, name, of_tools, keys, required);
$$;

comment on function _export_tools() is
  'The tools of other programs that do what tools of others do: of_tools, by their names in lower case; keys: for each input of the tool, a pattern of what others call it; required: inputs without which there is no such call.';

create or replace function _export_call(
    p_format text, p_provider text, p_name text, p_input json, out name text, out input json, out given_input json, out left_out text[])
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_tool record;
  v_inputs jsonb;
  v_unused text[];
begin
  given_input := p_input;
  if p_provider = p_format and not (p_format = 'codex' and p_name in ('local_shell', 'web_search', 'tool_search')) then
    name := p_name; -- a call by that same program
    input := p_input;
    return;
  end if;
  select * into v_tool from _export_tools() t where t.format = p_format and lower(p_name) = any (t.of_tools);
  if not found or json_typeof(p_input) is distinct from 'object' then
    return;
  end if;
  select coalesce(jsonb_object_agg(k.key, k.value) filter (where k.key is not null), '{}'), array_agg(g.key order by g.key) filter (where k.key is null)
    into v_inputs, v_unused
    from json_each(p_input) g
    left join lateral (
      select w.key, _export_value(g.value)::jsonb as value
        from jsonb_each_text(v_tool.keys) w
       where g.key ~* ('^(' || w.value || ')$') and _export_value(g.value) is not null) k on true;
  if v_inputs ?& v_tool.required then
    name := v_tool.name;
    input := v_inputs;
    left_out := array(select format('the input "%s" of calls of %s', u, p_name) from unnest(v_unused) u);
  end if;
end
$$;

comment on function _export_call(text, text, text, json) is
  'A call as the program of p_format would make it; name null: it has no tool that does the same. p_provider: the program that made it. left_out: inputs that its tool does not take.';

create or replace function _export_value(p_value json)
  returns json
  language sql
  stable
  parallel safe
  return case
    when json_typeof(p_value) in ('string', 'number', 'boolean') then p_value
    -- A command as a list of words, usually a shell's.
    when json_typeof(p_value) = 'array' and p_value ->> 0 ~ '(^|/)(ba|z|da)?sh$' and p_value ->> 1 ~ '^-l?c$' and json_array_length(p_value) = 3
      then p_value -> 2
    when json_typeof(p_value) = 'array' and p_value ->> 0 is not null
      then to_json((select string_agg(e.value, ' ' order by e.n) from json_array_elements_text(p_value) with ordinality as e(value, n)))
  end;

comment on function _export_value(json) is 'An input of a call where another program has one value; null: it has none.';
