-- A summary that its source could not get keeps no fork from asking for one.
begin;
select plan(4);

select agent('{"tools": ["look"], "compact_keep_recent": 2, "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select submit('Fix it');
select play(format('[[["look", "%s"]]]', repeat('row ', 800))::jsonb) from generate_series(1, 5);
create temporary table source as select item() as id, turn() as turn_id;
select context_compact(item(), 'rows');
select is(drive() ->> 'kind', 'summarize', 'the source asks for a summary');
select iteration_fail(item(), lease(), '{"class": "invalid_request", "message": "there is no such model"}');
select is(drive() ->> 'kind', 'call_model', 'it goes on without one');

select take(work_fork((select turn_id from source)));
select claim();
select context_compact(item(), 'rows');
select is(begin_iteration() ->> 'kind', 'summarize', 'a fork made at the same turn asks for a summary, too');
select is((select base_elision_id from compactions where work_item_id = item()), null, 'which does not begin where that of the source did');

select * from finish();
rollback;
