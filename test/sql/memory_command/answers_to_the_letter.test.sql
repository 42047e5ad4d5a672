-- Each command of the memory tool has the results and the errors that models know, to the letter.
begin;
select plan(41);

create function pg_temp.mem(p_input jsonb, p_reader text default null) returns text language sql as $$ select memory_command(p_input::json, 'shop', p_reader => p_reader) $$;
create function pg_temp.view(p_path text default '/memories') returns text language sql as $$ select pg_temp.mem(jsonb_build_object('command', 'view', 'path', p_path)) $$;
create function pg_temp.raises(p_input jsonb) returns text language plpgsql as $$
begin
  return pg_temp.mem(p_input);
exception when others then
  return sqlstate || ' ' || sqlerrm;
end
$$;

select is(pg_temp.view(), E'Here''re the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:\n0B\t/memories', 'the folder is always there');
select is(pg_temp.raises('{"command": "view", "path": "/memories/a.md"}'), 'WL001 The path /memories/a.md does not exist. Please provide a valid path.', 'view of nothing');
select is(pg_temp.mem('{"command": "create", "path": "/memories/notes.md", "file_text": "Hello World\nThis is line two\n"}'), 'File created successfully at: /memories/notes.md', 'create');
select is(pg_temp.view('/memories/notes.md'), E'Here''s the content of /memories/notes.md with line numbers:\n     1\tHello World\n     2\tThis is line two\n     3\t', 'view of a file');
select is(pg_temp.mem('{"command": "view", "path": "/memories/notes.md", "view_range": [2, 2]}'), E'Here''s the content of /memories/notes.md with line numbers:\n     2\tThis is line two', 'of a range');
select is(pg_temp.mem('{"command": "view", "path": "/memories/notes.md", "view_range": [2, -1]}'), E'Here''s the content of /memories/notes.md with line numbers:\n     2\tThis is line two\n     3\t', 'to its end');
select is(pg_temp.mem('{"command": "view", "path": "/memories/notes.md", "view_range": [7, 9]}'), E'Here''s the content of /memories/notes.md with line numbers:\n', 'of none');
select alike(pg_temp.raises('{"command": "view", "path": "/memories/notes.md", "view_range": [7]}'), 'WL002 Invalid `view_range` parameter:%', 'of what is no range');
select alike(pg_temp.raises('{"command": "view", "path": "/memories/notes.md", "view_range": ["a", 2]}'), 'WL002 `view_range` must be a whole number%', 'of no numbers');
select is(pg_temp.raises('{"command": "create", "path": "/memories/notes.md", "file_text": "x"}'), 'WL006 File /memories/notes.md already exists', 'create never overwrites');
select is(pg_temp.raises('{"command": "create", "path": "/memories/notes.md/deep.md", "file_text": "x"}'), 'WL002 The path /memories/notes.md is a file, not a directory', 'nor makes a folder of a file');
select is(pg_temp.raises('{"command": "create", "path": "/memories", "file_text": "x"}'), 'WL006 File /memories already exists', 'nor a file of the folder');

select is(pg_temp.mem('{"command": "str_replace", "path": "/memories/notes.md", "old_str": "World", "new_str": "Moon"}'),
  E'The memory file has been edited. Here is the snippet showing the change (with line numbers):\n     1\tHello Moon\n     2\tThis is line two\n     3\t', 'str_replace');
select is(pg_temp.raises('{"command": "str_replace", "path": "/memories/notes.md", "old_str": "World", "new_str": "x"}'), 'WL002 No replacement was performed, old_str `World` did not appear verbatim in /memories/notes.md.', 'of what is not there');
select is(pg_temp.raises('{"command": "str_replace", "path": "/memories/notes.md", "old_str": "", "new_str": "x"}'), 'WL002 No replacement was performed, old_str `` did not appear verbatim in /memories/notes.md.', 'of nothing');
select is(pg_temp.raises('{"command": "str_replace", "path": "/memories/notes.md", "old_str": "o", "new_str": "x"}'), 'WL002 No replacement was performed. Multiple occurrences of old_str `o` in lines: 1, 2. Please ensure it is unique', 'of what is there twice');
select is(pg_temp.raises('{"command": "str_replace", "path": "/memories/no.md", "old_str": "o", "new_str": "x"}'), 'WL001 The path /memories/no.md does not exist. Please provide a valid path.', 'in no file');
select is(pg_temp.raises('{"command": "str_replace", "path": "/memories", "old_str": "o", "new_str": "x"}'), 'WL001 The path /memories does not exist. Please provide a valid path.', 'in a folder');
select is(pg_temp.mem(jsonb_build_object('command', 'str_replace', 'path', '/memories/notes.md', 'old_str', E'Moon\nThis', 'new_str', E'Sun\n$1 \\1\nThat')),
  E'The memory file has been edited. Here is the snippet showing the change (with line numbers):\n     1\tHello Sun\n     2\t$1 \\1\n     3\tThat is line two\n     4\t', 'over lines, and its words are not a pattern');
select is(pg_temp.mem('{"command": "str_replace", "path": "/memories/notes.md", "old_str": "\n$1 \\1"}'),
  E'The memory file has been edited. Here is the snippet showing the change (with line numbers):\n     1\tHello Sun\n     2\tThat is line two\n     3\t', 'without new_str it goes');

select is(pg_temp.mem('{"command": "insert", "path": "/memories/notes.md", "insert_line": 1, "insert_text": "- between\n"}'), 'The file /memories/notes.md has been edited.', 'insert');
select is(pg_temp.mem('{"command": "insert", "path": "/memories/notes.md", "insert_line": 0, "insert_text": "# Top"}'), 'The file /memories/notes.md has been edited.', 'at the top');
select is((select content from v_memory_files), E'# Top\nHello Sun\n- between\nThat is line two\n', 'that is what it says');
select is(pg_temp.raises('{"command": "insert", "path": "/memories/notes.md", "insert_line": 6, "insert_text": "x"}'), 'WL002 Invalid `insert_line` parameter: 6. It should be within the range of lines of the file: [0, 5]', 'behind its end');
select is(pg_temp.raises('{"command": "insert", "path": "/memories/notes.md", "insert_line": -1, "insert_text": "x"}'), 'WL002 Invalid `insert_line` parameter: -1. It should be within the range of lines of the file: [0, 5]', 'before its beginning');
select is(pg_temp.raises('{"command": "insert", "path": "/memories/no.md", "insert_line": 0, "insert_text": "x"}'), 'WL001 The path /memories/no.md does not exist', 'into no file');

select is(pg_temp.mem('{"command": "create", "path": "/memories/a/b/c.md", "file_text": ""}'), 'File created successfully at: /memories/a/b/c.md', 'folders come with their files');
select pg_temp.mem(jsonb_build_object('command', 'create', 'path', p, 'file_text', repeat('x', 5632)))
  from unnest('{/memories/a/x.md,/memories/.hidden,/memories/a/node_modules/m.md}'::text[]) p;
select is(pg_temp.view(), E'Here''re the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:\n16.5K\t/memories\n'
  '11K\t/memories/a/\n0B\t/memories/a/b/\n5.5K\t/memories/a/x.md\n43B\t/memories/notes.md', 'a folder, two levels deep, without what is hidden');
select is(pg_temp.view('/memories/a/b'), E'Here''re the files and directories up to 2 levels deep in /memories/a/b, excluding hidden items and node_modules:\n0B\t/memories/a/b\n0B\t/memories/a/b/c.md', 'of a folder');
select is(pg_temp.view('/memories/a/b/c.md'), E'Here''s the content of /memories/a/b/c.md with line numbers:\n     1\t', 'an empty file has a line');

select is(pg_temp.mem('{"command": "rename", "old_path": "/memories/a", "new_path": "/memories/z/y"}'), 'Successfully renamed /memories/a to /memories/z/y', 'rename of a folder');
select is((select string_agg(path, ' ' order by path collate "C") from v_memory_files), '/memories/.hidden /memories/notes.md /memories/z/y/b/c.md /memories/z/y/node_modules/m.md /memories/z/y/x.md', 'all in it go along');
select is(pg_temp.raises('{"command": "rename", "old_path": "/memories/a", "new_path": "/memories/b"}'), 'WL001 The path /memories/a does not exist', 'of nothing');
select is(pg_temp.raises('{"command": "rename", "old_path": "/memories/notes.md", "new_path": "/memories/z"}'), 'WL006 The destination /memories/z already exists', 'onto what is there');
select is(pg_temp.raises('{"command": "rename", "old_path": "/memories/z", "new_path": "/memories/z/z"}'), 'WL002 Cannot rename /memories/z into itself', 'into itself');
select is(pg_temp.raises('{"command": "rename", "old_path": "/memories", "new_path": "/memories/z"}'), 'WL002 Cannot rename the /memories directory itself', 'of the folder of all');
select is(pg_temp.mem('{"command": "delete", "path": "/memories/z"}'), 'Successfully deleted /memories/z', 'delete of a folder');
select is(pg_temp.raises('{"command": "delete", "path": "/memories/z"}'), 'WL001 The path /memories/z does not exist', 'of nothing');
select is(pg_temp.raises('{"command": "delete", "path": "/memories"}'), 'WL002 Cannot delete the /memories directory itself', 'of the folder of all');
select alike(pg_temp.raises('{"command": "undo", "path": "/memories"}'), 'WL002 "undo" is not a memory command', 'another command');
select is(pg_temp.raises('{"command": "create", "path": "/memories/n.md", "file_text": 5}'), 'WL002 Parameter `file_text` is required for command: create', 'a command without what it needs');

select * from finish();
rollback;
