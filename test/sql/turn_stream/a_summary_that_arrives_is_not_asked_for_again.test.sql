-- A worker that asks again what to do, while a summary arrives that somebody watches, is given the same request.
begin;
select plan(3);

select agent('{"tools": ["look"], "compact_keep_recent": 2, "ledger_nudge_interval": 0}');
select submit('Fix it');
select play(format('[[["look", "%s"]]]', repeat('row ', 800))::jsonb) from generate_series(1, 5);
select context_compact(item(), 'rows');
select from ledger_watch(item());
select is(drive() ->> 'kind', 'summarize', 'a summary is asked for');
create temporary table asked as select turn() as id;
select turn_stream(item(), lease(), turn(), '[{"type": "text", "text": "Five ro"}]');
select is(begin_iteration() ->> 'turn_id', (select id::text from asked), 'its worker, which did not hear the answer, is given the same request');
select is((select count(*) from compactions), 1::bigint, 'there is one compaction');

select * from finish();
rollback;
