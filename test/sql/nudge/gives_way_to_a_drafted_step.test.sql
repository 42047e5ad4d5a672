begin;
select plan(5);

select agent('{"tools": ["look"], "elide_budget": 0, "ledger_nudge_interval": 3, "stall_limit": 0}');
select submit('Mend it');


select play((select jsonb_agg('[["look", "x"]]'::jsonb) from generate_series(1, 11)));

select is((select array_agg(iteration order by iteration) from v_nudges), array[4, 7], 'after two reminders that changed nothing');
select is((select content from work_ledger where is_auto), 'Not recorded by the agent; drafted by the engine from iterations 1 to 9. Calls: look ×9.', 'the engine says what was done, and that the agent did not');
select is((select array_agg(n) from request where body::text like '%[completed step 1: Not recorded by the agent%'), array[10, 11], 'and the block closes');
select is((select seq from work_ledger), 1, 'it is an entry like any other');
select is(rebuilt(), 11::bigint, 'every request is rebuilt to the byte');

select * from finish();
rollback;
