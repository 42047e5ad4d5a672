-- Why a person rejected a call of the very first response outlives its block and a compaction, though the task beside it stays.
begin;
select plan(3);

select tool('publish', 'unsafe', 'dangerous');
select agent('{"tools": ["look", "publish"], "require_approval": "dangerous", "elide_budget": 0, "keep_auto": 0, "compact_keep_recent": 2, "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
create function pg_temp.rejected() returns void language sql as $$
  select submit('Fix it');
  select drive(), answer('[["publish"]]'), iteration_finish(item(), lease());
  select tool_call_reject((select tool_call_id from approvals where work_item_id = item()), 'NOT BEFORE MONDAY');
  select drive(), iteration_finish(item(), lease()) $$;

select pg_temp.rejected();
select play('[[["look"], ["step", "Looked"]], [["look"]]]');
select alike(stub(3, 1), '%you were told: [a person rejected your call: publish] NOT BEFORE MONDAY%', 'its stub says it');

select pg_temp.rejected();
select play(format('[[["look", "%s"], ["finding", "Row %s"]]]', repeat('row ', 800), n)::jsonb) from generate_series(1, 5) n;
select context_compact(item());
select drive();
select is((select compaction_type from compactions where work_item_id = item()), 'ledger', 'the conversation is compacted');
select alike(told((select max(n)::integer from request)), '%WHAT YOU WERE TOLD ON THE WAY%[a person rejected your call: publish] NOT BEFORE MONDAY%', 'what takes its place says it');

select * from finish();
rollback;
