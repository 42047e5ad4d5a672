-- Touches: what a call touches is determined by touch_rules from its name and input, and stored with it. No other code looks for paths in inputs.

create or replace function _touches_store(p_call tool_calls, p_file text default null)
  returns text[]
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_rules touch_rules[] := _touch_rules_of(p_call.tool_name);
  v_kinds text[] := '{}';
begin
  if cardinality(v_rules) > 0 then -- most tools touch nothing
    with stored as (
      insert into touches (tool_call_id, ordinal, work_item_id, kind, target, action)
      select p_call.id, t.ordinal, p_call.work_item_id, t.kind, t.target, t.action
        from _touches_of(v_rules, _call_input(p_call), p_file) t
      returning kind, action
    )
    select coalesce(array_agg(distinct s.kind), '{}') into v_kinds from stored s where s.action not in ('read', 'search');
  end if;
  return v_kinds;
end
$$;

comment on function _touches_store(tool_calls, text) is 'Stores what a new call touches, and returns the kinds of what it changes (path, record, url). A caller that changes the input of a call first deletes what it touched before. p_file as in _touches_of().';

create or replace function _touches_of(p_rules touch_rules[], p_input json, p_file text default null)
  returns table (ordinal integer, kind text, target text, action text)
  language plpgsql
  stable
  rows 2
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
begin
  return query
    with input as materialized (
      select _jsonb_of(p_input) || case when p_file is null then '{}' else jsonb_build_object('path', p_file) end as value
    ), found as (
      select r.position, p.n, r.kind, r.action, r.form,
             case when r.form in ('patch', 'command') and jsonb_typeof(p.value) = 'array'
                  then to_jsonb((select string_agg(e #>> '{}', E'\n') from jsonb_array_elements(p.value) e)) else p.value end as value
        from unnest(p_rules) r
        cross join input i
        cross join lateral jsonb_path_query(i.value, r.place, silent => true) with ordinality as p(value, n)
    ), named as (
      select f.position, f.n, e.n as m, f.kind, f.action, e.value #>> '{}' as target
        from found f
        cross join lateral jsonb_path_query(f.value, '$[*]') with ordinality as e(value, n)
       where f.form = 'name' and jsonb_typeof(e.value) in ('string', 'number')
      union all
      select f.position, f.n, t.n, f.kind, t.action, t.path
        from found f
        cross join lateral _patched_files(f.value #>> '{}') with ordinality as t(action, path, n)
       where f.form = 'patch' or (f.form = 'command' and f.value #>> '{}' ~ '\mapply_?patch\M')
      union all
      select f.position, f.n, 1000 + t.n, f.kind, 'read', t.path
        from found f
        cross join lateral _printed_files(f.value #>> '{}') with ordinality as t(path, n)
       where f.form = 'command'
    ), clean as (
      select c.kind,
             left(
               case c.kind
                 when 'path' then regexp_replace(btrim(c.target, E' \t\r\n'), '^(\./+)+', '')
                 else btrim(c.target, E' \t\r\n') end,
               600) as target,
             c.action,
             min(array[c.position, c.n, c.m]) as place
        from named c
       group by 1, 2, 3
    )
    select (row_number() over (order by c.place) - 1)::integer, c.kind, c.target, c.action
      from clean c
     where c.target <> ''
     order by c.place
     limit 1000;
exception when others then
  -- For example, JSON that is nested too deeply: then nothing is known.
  return;
end
$$;

comment on function _touches_of(touch_rules[], json, text) is 'What a call with that input touches, by the rules for its tool (_touch_rules_of()): each file, URL or record once for each action, in the order of the input, at most 1,000. p_file: the path, if the input does not have it. Never fails: an input that cannot be read touches nothing.';

create or replace function _touch_rules_of(p_tool_name text)
  returns touch_rules[]
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_name text := _tool_name(left(p_tool_name, 200));
  v_rest text := lower(v_name);
  v_names text[] := '{}'; -- the name, and what follows each separator in it, longest first
begin
  while v_rest is not null loop
    v_names := v_names || v_rest;
    v_rest := substring(v_rest from '[-_./](.*)$');
  end loop;
  return array(
    select k.rule
      from (select r as rule, v.rank, min(v.rank) over () as best
              from touch_rules r
             -- A user's own rules first, then built-in rules for the whole name, then those for the name without the server's prefix, longest first.
             cross join lateral (
               select case when not r.is_builtin then case when r.tool_name = v_name then 0 end
                           else array_position(case when r.is_of_servers then v_names else v_names[:1] end, r.tool_name) end as rank) v
             where r.tool_name = any (v_names || v_name) and v.rank is not null) k
     where k.rank = k.best);
end
$$;

comment on function _touch_rules_of(text) is 'The rules for a tool, by the name that a model or a recorded run calls it.';

create or replace function _patched_files(p_patch text)
  returns table (action text, path text)
  language sql
  immutable
  rows 2
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  -- A moved file counts as one deleted and one created.
  select case m.line[1]
         when 'Delete' then 'delete'
         when 'Update' then case when lead(m.line[2]) over (order by m.n) is not null then 'delete' else 'modify' end
         else 'create' end,
         btrim(m.line[3], E' \t\r')
    from regexp_matches(
      substring(p_patch from '(?n)^\s*\*\*\* Begin Patch\s*$(?:.|\n)*'), '(?n)^\*\*\* (?:(Add|Update|Delete) File|(Move) to): *(\S.*)$',
      'g') with ordinality as m(line, n)
   order by m.n;
$$;

comment on function _patched_files(text) is 'The files of a patch in the format of apply_patch, and what it does to each.';

create or replace function _printed_files(p_command text)
  returns setof text
  language sql
  immutable
  rows 1
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  -- Only the first command of each pipeline; commands with redirections, globs or substitutions are ignored.
  with word as (
    select c.n as command, w.n, c.line ~ '^\s*sed\M' as is_sed, coalesce(w.word[1], w.word[2], w.word[3]) as word
      from regexp_split_to_table(left(p_command, 20000), '\s*(?:&&|\|\||;|\n)\s*') with ordinality as s(segment, n)
      cross join lateral (select s.n, split_part(s.segment, '|', 1) as line) c
      cross join lateral regexp_matches(c.line, '''([^'']*)''|"([^"]*)"|(\S+)', 'g') with ordinality as w(word, n)
     where c.line ~ '^\s*(?:(?:cat|nl|bat|head|tail)\M|sed\s+-n\M)' and c.line !~ '[<>`*?(){}]|\$[A-Za-z({]'
  ),
  argument as (
    select *, row_number() over (partition by command order by n) as place
      from word
     where n > 1 and word !~ '^-' and word !~ '^\+?\d+$' and word <> ''
  )
  select a.word from argument a where not a.is_sed or a.place > 1 order by a.command, a.n limit 20;
$$;

comment on function _printed_files(text) is 'The files that a shell command prints unchanged, whole or in part: by cat, nl, bat, head, tail and sed -n.';

create or replace function _text_written(p_input jsonb)
  returns text
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select string_agg(w.value #>> '{}', E'\n')
    from (select p_input union all select jsonb_path_query(p_input, '$.edits[*]') union all select jsonb_path_query(p_input, '$.replacements[*]')) as e(value)
    cross join lateral jsonb_path_query(
      e.value,
      '$.keyvalue() ? (@.key like_regex "^(contents?|new_?(str|string|text|source)|file_?text|replacement(_text)?|code_?edit|patch(_?text)?|input)$" '
        'flag "i").value ? (@.type() == "string")',
      silent => true) w(value);
$$;

comment on function _text_written(jsonb) is 'The text that a call writes into files, from its input.';

-- The tools of well-known agents: Claude Code, Codex CLI, Copilot, pi, SWE-agent, OpenHands, Cursor, Gemini CLI, Cline, opencode, Goose, MCP
-- servers for files and browsers, and our own. Keys are matched by name patterns, since the agents have different names for the same thing.
delete from touch_rules where is_builtin;

insert into touch_rules (tool_name, is_builtin, position, place, form, kind, action, is_of_servers)
select t.tool_name, true, row_number() over (partition by t.tool_name order by v.n),
       (case when v.place like '$%' then v.place
             else format('$.keyvalue() ? (@.key like_regex "^(%s)$" flag "i").value',
                         case v.place
                           when 'FILE' then 'path|(absolute|relative|file|notebook|image|relative_?workspace)_?path|(file|target)_?name|(target_?|image_?)?file'
                           when 'FOLDER' then 'path|(absolute|relative|file|dir|directory|relative_?workspace)_?path|'
                              'dir|folder|file|(target|search)?_?director(y|ies)'
                           else v.place end) end)::jsonpath,
       v.form, v.kind, v.action, v.is_of_servers
  from (values
    (1, 'read notebookread view view_image view_file readfile read_file_v2 artifact open filemap', 'FILE', 'name', 'path', 'read', false),
    (2, 'read_file read_text_file read_media_file get_file_info', 'FILE', 'name', 'path', 'read', true),
    (3, 'read_file', '$.files.path', 'name', 'path', 'read', true),
    (4, 'read_many_files read_multiple_files', '(file_?)?paths|include', 'name', 'path', 'read', true),
    (5, 'write writefile create write_to_file', 'FILE', 'name', 'path', 'create', false),
    (6, 'write_file create_file create_text_file', 'FILE', 'name', 'path', 'create', true),
    (
      7,
      'edit insert append multiedit notebookedit edit_notebook edit_notebook_file edit_file_v2 reapply undo_edit search_replace search_and_replace replace',
      'FILE', 'name', 'path', 'modify', false),
    (
      8,
      'replace_in_file replace_file_content replace_string_in_file insert_edit_into_file strreplacefile str_replace insert_content apply_diff',
      'FILE', 'name', 'path', 'modify', false),
    (9, 'edit_file append_file', 'FILE', 'name', 'path', 'modify', true),
    (10, 'multi_replace_string_in_file', '$.replacements.filePath', 'name', 'path', 'modify', false),
    (11, 'delete delete_path remove_file', 'FILE', 'name', 'path', 'delete', false),
    (12, 'delete_file', 'FILE', 'name', 'path', 'delete', true),
    (13, 'move_file rename_file move_path', '(source|src|from|old)(_?(path|file))?', 'name', 'path', 'delete', true),
    (14, 'copy_file copy_path', '(source|src|from)(_?(path|file))?', 'name', 'path', 'read', true),
    (15, 'move_file rename_file move_path copy_file copy_path', '(destination|dest|dst|to|new|target)(_?(path|file))?', 'name', 'path', 'create', true),
    (
      16,
      'grep glob ls find list_dir list_files list_code_definition_names search_file_content grep_search grep_files '
      'codebase_search file_search glob_file_search find_by_name find_file search_dir search_file',
      'FOLDER', 'name', 'path', 'search', false),
    (17, 'list_directory list_directory_with_sizes directory_tree search_files', 'FOLDER', 'name', 'path', 'search', true),
    (
      18, 'str_replace_editor str_replace_based_edit_tool text_editor file_editor memory',
      '$ ? (@.command == "view" || @.arguments like_regex "^view\\s").path', 'name', 'path', 'read', true),
    (
      19, 'str_replace_editor str_replace_based_edit_tool text_editor file_editor memory',
      '$ ? (@.command == "create" || @.command == "write" || @.arguments like_regex "^create\\s").path', 'name', 'path', 'create', true),
    (
      20, 'str_replace_editor str_replace_based_edit_tool text_editor file_editor memory',
      '$ ? (@.command like_regex "^(str_replace|insert|undo_edit)$" || @.arguments like_regex "^(str_replace|insert|undo_edit)\\s").path',
      'name', 'path', 'modify', true),
    (21, 'memory', '$ ? (@.command == "delete").path', 'name', 'path', 'delete', false),
    (22, 'memory', '$ ? (@.command == "rename").old_path', 'name', 'path', 'delete', false),
    (23, 'memory', '$ ? (@.command == "rename").new_path', 'name', 'path', 'create', false),
    (24, 'apply_patch patch', 'input|patch|patch_?text|diff|command', 'patch', 'path', null, true),
    (
      25,
      'bash shell exec_command local_shell container_exec run_shell_command run_terminal_cmd run_terminal_command '
      'run_terminal_command_v2 run_in_terminal execute_command execute_bash run_command terminal',
      'command|cmd|script|input|command_?line', 'command', 'path', null, false),
    (26, 'webfetch web_fetch fetch fetch_webpage fetch_url read_url', 'urls?', 'name', 'url', 'read', false),
    (27, 'browser_navigate puppeteer_navigate navigate navigate_page', 'url', 'name', 'url', 'read', true),
    (28, 'artifact_read', '$.handle', 'name', 'record', 'read', false)
  ) as v(n, tool_names, place, form, kind, action, is_of_servers)
  cross join lateral regexp_split_to_table(v.tool_names, ' ') as t(tool_name);
