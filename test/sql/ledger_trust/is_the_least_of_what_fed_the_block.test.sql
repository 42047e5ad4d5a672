-- An entry says the least trusted of what fed its block, and a digest says it on.
begin;
select plan(14);

select ability_register(t.name, t.name, '{"type": "object"}', 'pure', 'safe', p_source => t.source)
  from (values ('run_tests', 'own_test'), ('read_it', 'file'), ('ask_other', 'other_agent'), ('fetch', 'web'), ('note_down', 'none'), ('unknown', null)) t(name, source);
select agent('{"tools": ["run_tests", "read_it", "ask_other", "fetch", "note_down", "unknown"], "elide_budget": 100000}', '{"awareness": {"enabled": false}}');
create function pg_temp.newest() returns text language sql as $$ select trust from work_ledger where work_item_id = item() order by seq desc limit 1 $$;
select submit('Find out');
select play('[[["finding", "From the task"]]]');
select is(pg_temp.newest(), 'user', 'with no calls: its task');
select play('[[["run_tests"], ["note_down"]], [["finding", "Tests pass"]]]');
select is(pg_temp.newest(), 'own_test', 'what it ran itself');
select play('[[["read_it"]], [["run_tests"]], [["finding", "It says so"]]]');
select is(pg_temp.newest(), 'file', 'the least trusted counts');
select play('[[["ask_other"]], [["finding", "They say so"]]]');
select is(pg_temp.newest(), 'other_agent', 'another agent');
select play('[[["fetch"]], [["finding", "The web says so"]]]');
select is(pg_temp.newest(), 'web', 'the web');
select alike(awareness_digest(), '%- The web says so (Worker, from outside, in progress)%', 'a digest says it on');
select play('[[["step", "Done with that"]], [["run_tests"]], [["finding", "Tests pass again"]]]');
select is(pg_temp.newest(), 'own_test', 'a step is a clean point');
select play('[[["unknown"]], [["finding", "Somebody says so"]]]');
select is(pg_temp.newest(), 'web', 'a tool that does not say where it reads is from outside');
select play('[[["step", "Done"]], [["read_it", {"url": "https://example.org"}]]]');
select throws_ok($$ select ability_register('x', 'x', '{"type": "object"}', p_source => 'heaven') $$, 'WL002', null, 'sources are known');

create temporary table child as select id from work_submit('analyze', 'Another');
select from ledger_append((select id from child), 'note', 'By hand');
select is((select trust from work_ledger where content = 'By hand'), null, 'of what a person or a program wrote nobody knows');
select from ability_invoke('ledger_append', '{"entry_type": "note", "content": "By an agent of its own"}', (select id from child));
select is((select trust from work_ledger where content = 'By an agent of its own'), 'other_agent', 'an agent with a loop of its own is another agent');

-- Files change.
select ability_register('write_file', 'Writes.', '{"type": "object"}', 'idempotent', 'safe', p_touches => '[{"key": "path", "action": "create"}]', p_source => 'none');
select agent('{"tools": ["write_file"]}', '{"awareness": {"enabled": false}}');
select submit('Files');
select play('[[["finding", "toCents() in src/money.js truncates"]]]');
select unalike(awareness_digest(), '%stale%', 'what is as it was is not stale');
select play('[[["write_file", {"path": "src/other.js"}]]]');
select unalike(awareness_digest(), '%stale%', 'another file is none of it');
select play('[[["write_file", {"path": "src/money.js"}]]]');
select alike(awareness_digest(), '%truncates [stale: src/money.js has changed since]%', 'a finding about a file that has changed since is stale');

select * from finish();
rollback;
