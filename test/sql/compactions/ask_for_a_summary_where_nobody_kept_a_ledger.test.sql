-- Steps that the engine drafted do not stand for what an agent recorded: old turns are summed up before they leave.
begin;
select plan(3);

select agent('{"tools": ["look"], "compact_keep_recent": 2, "elide_budget": 1000000, "keep_auto": 0, "ledger_nudge_interval": 1}', '{"awareness": {"enabled": false}}');
select submit('Fix it');
select play(format('[[["look", "%s"]]]', repeat(format('row %s ', n), 500))::jsonb) from generate_series(1, 8) n;
select isnt((select count(*) from work_ledger where is_auto), 0::bigint, 'the engine has drafted a step');
select is((select count(*) from work_ledger where not is_auto), 0::bigint, 'the agent has recorded nothing');
select context_compact(item());
select is(drive() ->> 'kind', 'summarize', 'a summary is asked for');

select * from finish();
rollback;
