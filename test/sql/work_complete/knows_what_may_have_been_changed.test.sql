-- A write whose worker died may have happened: what was seen before it shows nothing any more.
begin;
select plan(3);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select tool('write_file', 'unsafe');
select agent('{"tools": ["look", "write_file"]}');
select submit('Fix it');

select later('1 minute'), play('[[["look", "all tests pass"]]]');
select later('1 minute'), drive(), answer('[["write_file", {"path": "a.ts"}]]');
select tool_call_begin(item(), lease(), call('t2_1'));
select later('1 hour'), drive(), iteration_finish(item(), lease());
select is((select status from tool_calls where id = call('t2_1')), 'uncertain', 'a write was cut off');
select throws_ok($$ select _evidence_check(item(), '["t1_1"]') $$, 'WL002', 'evidence "t1_1 (look)" is older than the last change of a file', 'what was seen before it is no evidence');
select later('1 minute'), play('[[["look", "all tests pass"]]]');
select lives_ok($$ select _evidence_check(item(), '["t3_1"]') $$, 'what was seen after it is evidence');

select * from finish();
rollback;
