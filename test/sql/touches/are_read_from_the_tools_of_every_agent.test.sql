-- What a call touches is read from its name and its input, for the tools of every agent that is imported.
begin;
select plan(12);

create function pg_temp.of(p_name text, p_input text) returns text language sql as $$
  select string_agg(format('%s %s %s', kind, action, target), ', ' order by ordinal) from _touches_of(_touch_rules_of(p_name), p_input::json)
$$;
create function pg_temp.all(p_calls text[]) returns text[] language sql as $$
  select array_agg(pg_temp.of(c[1], c[2]) order by n) from (select array[p_calls[n][1], p_calls[n][2]], n from generate_subscripts(p_calls, 1) n) s(c, n)
$$;

select is(pg_temp.all(array[
  ['Read', '{"file_path": "/a/b.ts", "offset": 3}'], ['Edit', '{"file_path": "./a.ts", "old_string": "path", "new_string": ""}'], ['Write', '{"file_path": "a b.ts", "content": "x"}'],
  ['MultiEdit', '{"file_path": "a.ts", "edits": [{"old_string": "x", "new_string": "y"}]}'], ['NotebookEdit', '{"notebook_path": "n.ipynb", "new_source": ""}'], ['Grep', '{"pattern": "x", "path": "src"}'], ['WebFetch', '{"url": "https://example.com/a", "prompt": "What?"}']]),
  array['path read /a/b.ts', 'path modify a.ts', 'path create a b.ts', 'path modify a.ts', 'path modify n.ipynb', 'path search src', 'url read https://example.com/a'], 'what the tools of Claude Code touch is read');
select is(pg_temp.all(array[
  ['apply_patch', '{"input": "*** Begin Patch\n*** Update File: ./src/a.ts\n@@\n-*** Delete File: no\n+x\n*** Add File: new.ts\n+y\n*** Delete File: old.ts\n*** Update File: from.ts\n*** Move to: sub/to.ts\n@@\n*** End Patch\n"}'],
  ['exec_command', '{"cmd": "cd x && apply_patch <<''EOF''\n*** Begin Patch\n*** Update File: a b.ts\n@@\n*** End Patch\nEOF"}'],
  ['shell', '{"command": ["apply_patch", "*** Begin Patch\r\n*** Add File: n.ts\r\n+x\r\n*** End Patch"]}'],
  ['shell', '{"command": ["bash", "-lc", "cat README.md; grep ''*** Add File: x'' y"]}']]),
  array['path modify src/a.ts, path create new.ts, path delete old.ts, path delete from.ts, path create sub/to.ts', 'path modify a b.ts', 'path create n.ts', 'path read README.md'], 'what the tools of Codex CLI touch is read');
select is(pg_temp.all(array[['view', '{"path": "a.ts"}'], ['create', '{"path": "b.ts", "file_text": "x"}'], ['edit', '{"path": "./c.ts", "old_str": "", "new_str": ""}'], ['replace_string_in_file', '{"filePath": "d.ts"}'],
  ['multi_replace_string_in_file', '{"replacements": [{"filePath": "e.ts"}, {"filePath": "f.ts"}, {"filePath": "e.ts"}]}']]),
  array['path read a.ts', 'path create b.ts', 'path modify c.ts', 'path modify d.ts', 'path modify e.ts, path modify f.ts'], 'what the tools of Copilot touch is read');
select is(pg_temp.all(array[['read', '{"path": "a.ts"}'], ['write', '{"path": "b.ts"}'], ['edit', '{"path": "c.ts", "oldText": "", "newText": ""}'], ['ls', '{"path": "src"}']]),
  array['path read a.ts', 'path create b.ts', 'path modify c.ts', 'path search src'], 'what the tools of pi touch is read');
select is(pg_temp.all(array[['str_replace_editor', '{"command": "view", "path": "/t/a.py"}'], ['str_replace_editor', '{"command": "create", "path": "/t/a.py", "file_text": ""}'], ['str_replace_editor', '{"command": "insert", "path": "/t/a.py"}'],
  ['create', '{"filename": "b.py"}'], ['open', '{"path": "c.py", "line_number": 3}'], ['find_file', '{"file_name": "x", "dir": "src"}'], ['edit', '{"search": "a", "replace": "b"}']]),
  array['path read /t/a.py', 'path create /t/a.py', 'path modify /t/a.py', 'path create b.py', 'path read c.py', 'path search src', null], 'what the tools of SWE-agent and OpenHands touch is read');
select is((select array_agg(action || ' ' || target) from _touches_of(_touch_rules_of('edit'), '{"search": "a", "replace": "b"}', '/t/a.py')), array['modify /t/a.py'], 'an edit of SWE-agent is of the file that is open');
select is(pg_temp.all(array[['read_file', '{"target_file": "a.ts"}'], ['edit_file', '{"target_file": "b.ts", "code_edit": "x"}'], ['search_replace', '{"file_path": "c.ts"}'], ['delete_file', '{"target_file": "d.ts"}'], ['list_dir', '{"relative_workspace_path": "src"}'], ['codebase_search', '{"query": "x", "target_directories": ["a", "b"]}']]),
  array['path read a.ts', 'path modify b.ts', 'path modify c.ts', 'path delete d.ts', 'path search src', 'path search a, path search b'], 'what the tools of Cursor touch is read');
select is(pg_temp.all(array[['read_file', '{"absolute_path": "/a.ts"}'], ['write_file', '{"file_path": "b.ts", "content": ""}'], ['replace', '{"file_path": "c.ts"}'], ['read_many_files', '{"paths": ["d.ts", "e.ts"]}'], ['list_directory', '{"dir_path": "src"}'], ['search_file_content', '{"pattern": "x", "path": "."}']]),
  array['path read /a.ts', 'path create b.ts', 'path modify c.ts', 'path read d.ts, path read e.ts', 'path search src', 'path search .'], 'what the tools of Gemini CLI touch is read');
select is(pg_temp.all(array[['mcp__filesystem__edit_file', '{"path": "a.ts", "edits": []}'], ['filesystem:write_file', '{"path": "b.ts"}'], ['filesystem_read_text_file', '{"path": "c.ts"}'], ['my-files-move_file', '{"source": "d.ts", "destination": "e.ts"}'],
  ['mcp__fs__read_multiple_files', '{"paths": ["f.ts", "g.ts"]}'], ['mcp__playwright__browser_navigate', '{"url": "http://localhost:1"}'], ['mcp__linear__read', '{"path": "no"}'], ['read_bash', '{"command": "apply_patch\n*** Begin Patch\n*** Add File: no"}']]),
  array['path modify a.ts', 'path create b.ts', 'path read c.ts', 'path delete d.ts, path create e.ts', 'path read f.ts, path read g.ts', 'url read http://localhost:1', null, null], 'what the tools of MCP servers, whatever they are called, touch is read');
select is(pg_temp.all(array[['read_file', '{"path": "./././a.ts"}'], ['write_file', '{"path": "a.ts"}'], ['edit_file', '{"path": "a.ts"}'], ['glob', '{"pattern": "*", "path": "src"}'], ['web_fetch', '{"url": "https://example.com"}'], ['artifact_read', '{"handle": "0123456789abcdef"}'], ['bash', '{"command": "cat a.ts"}']]),
  array['path read a.ts', 'path create a.ts', 'path modify a.ts', 'path search src', 'url read https://example.com', 'record read 0123456789abcdef', 'path read a.ts'], 'what the tools of our own touch is read');
select is(pg_temp.all(array[['Read', '[]'], ['Read', 'null'], ['Read', '"x"'], ['Read', '{"file_path": {"a": 1}}'], ['Read', '{"file_path": ""}'], ['Read', '{"file_path": null}'], ['Edit', '{"file_path": "a\u0000b", "old_string": "\ud800"}'], ['Edit', '{"fi\u0000le": 1, "file_path": "a.ts"}'],
  ['', '{"path": "a"}'], ['apply_patch', '{"input": "*** Begin Patch\n*** Add File:   \n*** nothing"}'], ['Read', '{"file_path": ["a", ["b"], 7]}']]),
  array[null, null, null, null, null, null, 'path modify a␀b', 'path modify a.ts', null, null, 'path read a, path read 7'], 'odd input touches what can be read of it');
select is((select array_agg(char_length(target)) from _touches_of(_touch_rules_of('Read'), json_build_object('file_path', repeat('p', 10000)))), array[600], 'a name that is too long is cut');

select * from finish();
rollback;
