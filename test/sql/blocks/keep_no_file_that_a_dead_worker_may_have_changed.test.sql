-- A file that was read is not shown as unchanged once a worker died while it may have been writing to it.
begin;
select plan(4);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select tool('read_file'), tool('edit_file', 'unsafe');
select agent('{"tools": ["look", "read_file", "edit_file"], "elide_budget": 0, "keep_auto": 2000, "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select submit('Fix it');
select play('[[["read_file", {"path": "a.ts"}, "what a.ts holds"], ["read_file", {"path": "b.ts"}, "what b.ts holds"]]]');
select drive(), answer('[["edit_file", {"path": "a.ts"}]]'), tool_call_begin(item(), lease(), call('t2_1'));
select later('1 hour');
select from work_sweep();
select is(drive() ->> 'kind', 'run_tools', 'the worker died while it wrote');
select is((select status from tool_calls where id = call('t2_1')), 'uncertain', 'nobody knows whether it did');
select iteration_finish(item(), lease());
select play('[[["look"], ["step", "Read them"]], [["look"]]]');
select alike(kept(4), '%what b.ts holds%', 'a file that was only read is kept');
select unalike(kept(4), '%what a.ts holds%', 'the other is not');

select * from finish();
rollback;
