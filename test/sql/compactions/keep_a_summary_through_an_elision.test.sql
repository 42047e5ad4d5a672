-- What a summary says outlives the blocks that close after it, and the compaction that comes then.
begin;
select plan(4);

select agent('{"tools": ["look"], "compact_keep_recent": 2, "elide_budget": 0, "keep_auto": 0, "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select submit('Fix it');
select play(format('[[["look", "%s"]]]', repeat('row ', 800))::jsonb) from generate_series(1, 5);
select context_compact(item(), 'rows');
select drive();
select ok(summary_record(item(), lease(), turn(), '{"content": [{"type": "text", "text": "The index is never used."}]}'), 'the work is summed up');
select begin_iteration(), answer('[["look"]]'), run(), iteration_finish(item(), lease());
select play('[[["look"], ["step", "Looked"]], [["look"]]]');
select is((select max(ordinal) from elisions), 1, 'a block has left since');
select play(format('[[["look", "%s"], ["finding", "Row %s"]]]', repeat('row ', 800), n)::jsonb) from generate_series(1, 5) n;
select context_compact(item());
select drive();
select is((select string_agg(compaction_type, ' ' order by created_at) from compactions), 'summary ledger', 'it is compacted again');
select alike(told((select max(n)::integer from request)), '%A summary of your work up to here%The index is never used.%', 'the summary is still told');

select * from finish();
rollback;
