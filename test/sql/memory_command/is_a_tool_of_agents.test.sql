-- memory = true offers the tool; what an agent writes is of its project, names it, is redacted, and claims nothing.
begin;
select plan(25);

create function pg_temp.results() returns text[] language sql as $$
  select array_agg(status || ' ' || (result #>> '{}') order by ordinal) from tool_calls where turn_id = turn()
$$;
select agent('{"tools": ["look"], "workspace": "host", "workspace_dir": "/srv/shop"}');
select submit(), drive();
select ok(not (select body -> 'tools' @@ '$[*].name == "memory"' from (select body::jsonb from request where n = 1) r), 'it is not offered by itself');
select agent('{"tools": ["look"], "workspace": "host", "workspace_dir": "/srv/shop"}', '{"memory": true}');
select take((work_submit('analyze', 'Note', p_project => 'shop')).id), drive();
select ok((select body -> 'tools' @@ '$[*].name == "memory"' from (select body::jsonb from request where n = 2) r), 'memory = true offers it');
select alike((select body ->> 'system' from request where n = 2), '%## Project Memory%', 'and says what it is for');
select answer('[["memory", {"command": "create", "path": "/memories/build.md", "file_text": "make all\nThe key is sk-ant-api03-aB3_aB3_aB3_aB3_aB3_aB3_aB3_aB3_"}],
  ["memory", {"command": "str_replace", "path": "/memories/build.md", "old_str": "make all", "new_str": "make"}], ["memory", {"command": "create", "path": "/memories/build.md", "file_text": ""}],
  ["memory", {"command": "view", "path": "/memories/../x"}]]'), run();
select is(pg_temp.results(), array['completed File created successfully at: /memories/build.md',
  E'completed The memory file has been edited. Here is the snippet showing the change (with line numbers):\n     1\tmake\n     2\tThe key is [redacted]',
  'failed Error: File /memories/build.md already exists', 'failed Error: Path /memories/../x would escape /memories directory'], 'results and errors are as models know them, in the order of the calls');
select results_eq($$ select project, path, version, written_by, work_item_id, content from v_memory_files $$,
  $$ select 'shop', '/memories/build.md', 2, _agent_name(w), w.id, E'make\nThe key is [redacted]' from work_items w where w.id = item() $$, 'of the project of its work, by name');
select is((select count(*) from memory_versions v join tool_calls k on k.id = v.tool_call_id and k.tool_name = 'memory'), 2::bigint, 'each version names its call');
select is((select count(*) from claims), 0::bigint, 'a note is no file of the host, and claims nothing');
select memory_write('/memories/key.md', 'It is sk-ant-api03-' || repeat('aB3_', 8), 'bank', p_why => 'for sk-ant-api03-' || repeat('aB3_', 8));
select is((select content || ', ' || why from memory_versions order by created_at desc, file_id desc limit 1), 'It is [redacted], for [redacted]', 'nor do people write secrets');
select is((select secrets from redactions where place = 'memory_versions'), 2, 'what was taken out is counted');
create temporary table first as select item() as id;

select take((work_submit('analyze', 'Elsewhere', p_project => 'bank')).id), drive();
select answer('[["memory", {"command": "view", "path": "/memories/build.md"}]]'), run();
select is(pg_temp.results(), '{"failed Error: The path /memories/build.md does not exist. Please provide a valid path."}', 'another project has none of it');
select take((work_submit('analyze', 'Nowhere')).id), drive();
select answer('[["memory", {"command": "create", "path": "/memories/build.md", "file_text": "Of all"}]]'), run();
select is((select count(*) from v_memory_files where project is null), 1::bigint, 'work in no project has notes of its own');

-- A child, and a fork.
select take((spawn_child_work((select id from first), 'analyze', 'A part', p_lease => lease((select id from first)))).id), drive();
select answer('[["memory", {"command": "insert", "path": "/memories/build.md", "insert_line": 1, "insert_text": "child"}]]'), run();
select is(pg_temp.results(), '{"completed The file /memories/build.md has been edited."}', 'a child has the notes of its parent''s project');
select iteration_finish((select id from first), lease((select id from first)));
select take((select id from first)), drive(), answer('[["memory", {"command": "insert", "path": "/memories/build.md", "insert_line": 2, "insert_text": "parent"}]]'), run();
select alike((pg_temp.results())[1], E'failed Error: File /memories/build.md was changed since you viewed it (version 2; it is version 3 now), by % %. Nothing was done. What changed:\n+ child\nView it again, then decide.', 'what its child wrote its parent has not seen');
select iteration_finish(item(), lease());
create temporary table fork as select (work_fork((select t.id from turns t where t.work_item_id = (select id from first) and t.completed_at is not null order by t.id limit 1))).id;
select take((select id from fork)), drive();
select answer('[["memory", {"command": "insert", "path": "/memories/build.md", "insert_line": 2, "insert_text": "fork"}], ["memory", {"command": "delete", "path": "/memories/build.md"}],
  ["memory", {"command": "insert", "path": "/memories/build.md", "insert_line": 0, "insert_text": "top"}], ["memory", {"command": "view", "path": "/memories/build.md"}],
  ["memory", {"command": "insert", "path": "/memories/build.md", "insert_line": 1, "insert_text": "fork"}]]'), run();
select is((select array_agg(left(r, 66)) from unnest(pg_temp.results()) r), array['failed Error: You are on a branch and have not viewed /memories/bu', 'failed Error: You are on a branch and have not viewed /memories/bu',
  'completed The file /memories/build.md has been edited.', E'completed Here''s the content of /memories/build.md with line numbe', 'completed The file /memories/build.md has been edited.'],
  'what a fork was shown before it was one is not what is there now');
select is((select count(distinct v.work_item_id) from memory_views v), 3::bigint, 'who was shown what is known');

-- Other programs, by name.
select is(ability_invoke('memory', '{"command": "view", "path": "/memories/build.md"}', (journal_session_open('c1', 'Look', '/srv/shop', 'shop')).id) #>> '{}',
  E'Here''s the content of /memories/build.md with line numbers:\n     1\ttop\n     2\tfork\n     3\tmake\n     4\tchild\n     5\tThe key is [redacted]', 'a session reads them by ability_invoke()');
select throws_ok($$ select ability_invoke('memory', '{"command": "view", "path": "/memories"}') $$, 'WL001', null, 'which needs an item');
select throws_ok($$ select memory_command('{"command": "view", "path": "/memories"}', p_work_item_id => item()) $$, 'WL005', null, 'while it is driven only with its lease');
select throws_ok($$ select memory_command('{"command": "view", "path": "/memories"}', p_work_item_id => gen_random_uuid()) $$, 'WL001', null, 'of an item that is there');
select lives_ok($$ select memory_command('{"command": "view", "path": "/memories"}', p_work_item_id => item(), p_lease => lease()) $$, 'with it');
select is((select array_agg(relation order by relation) from work_export(item()) where relation like 'memory%'), '{memory_versions,memory_versions,memory_views}', 'an export has what it read and wrote');

-- A faculty that redacts nothing.
select agent('{"tools": ["look"]}', '{"memory": true, "redact": false}');
select take((work_submit('analyze', 'Note', p_project => 'open')).id), drive();
select answer('[["memory", {"command": "create", "path": "/memories/key.md", "file_text": "sk-ant-api03-aB3_aB3_aB3_aB3_aB3_aB3_aB3_aB3_"}]]'), run();
select alike((select content from v_memory_files where project = 'open'), 'sk-ant-%', 'redact = false holds for notes, too');
select is_empty($$ select * from ledger_verify() $$, 'the chain of all holds');
select is((select count(*) from v_projects where project in ('open', 'shop')), 2::bigint, 'projects are listed');
select is(project_has('shop', (select project from v_memory_files where project = 'shop')), true, 'and looked at by any name');

select * from finish();
rollback;
