-- Asking for a compaction that frees nothing is answered with that; one that frees something with null.
begin;
select plan(6);

select agent('{"tools": ["look"], "elide_budget": 100000, "keep_auto": 0, "compact_keep_recent": 2}', '{"awareness": {"enabled": false}}');
select submit('Fix it');
select drive();
select alike(context_compact(item()), 'There is nothing to compact yet%', 'before the first response there is nothing');
select answer('[["look"]]'), run(), iteration_finish(item(), lease());
select drive();
select alike(context_compact(item()), 'Nothing would be gained now: less than a tenth%', 'a short conversation has nothing to leave out');
select answer('[["look"]]');
select alike(context_compact(item()), 'Nothing would be gained now: less than a tenth%', 'nor has it while its calls run');
select run(), iteration_finish(item(), lease());
select play(format('[[["look", "%s"], ["finding", "Row %s"]]]', repeat('row ', 800), n)::jsonb) from generate_series(1, 5) n;
select drive();
select is(context_compact(item()), null, 'a long one has');
select answer('[["look"]]');
select is(context_compact(item()), null, 'so it is while its calls run');
select run(), iteration_finish(item(), lease());
select drive();
select is((select compaction_type from compactions where work_item_id = item()), 'ledger', 'and the next request is compacted');

select * from finish();
rollback;
