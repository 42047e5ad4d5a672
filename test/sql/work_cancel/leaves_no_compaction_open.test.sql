-- Work that is cancelled while a model writes its summary has no compaction that is still to come.
begin;
select plan(4);

select agent('{"tools": ["look"], "compact_keep_recent": 2, "ledger_nudge_interval": 0}');
select submit('Fix it');
select drive(), answer('[["look"]]'), run(jsonb_build_array(jsonb_build_array('look', repeat('x', 3000)))), iteration_finish(item(), lease()) from generate_series(1, 5) n;
select context_compact(item(), 'rows');
select is(drive() ->> 'kind', 'summarize', 'a summary is asked for');
select is((select is_applied from compactions), null, 'its compaction is open');
select from work_cancel(item(), 'not needed');
select is((select is_applied from compactions), false, 'the compaction was given up with the work');
select is_empty($$ select * from work_ledger_check(null) $$, 'nothing is left open');

select * from finish();
rollback;
