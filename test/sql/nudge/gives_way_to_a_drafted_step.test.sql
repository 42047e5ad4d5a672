-- After two reminders that changed nothing the engine drafts a step itself, and the block closes.
begin;
select plan(5);

select agent('{"tools": ["look"], "elide_budget": 0, "ledger_nudge_interval": 3, "stall_limit": 0}');
select submit('Fix it');

select play('[[["look", "x"]]]') from generate_series(1, 11);

select is((select array_agg(iteration order by iteration) from v_nudges), array[4, 7], 'two reminders come before the draft');
select is((select content from work_ledger where is_auto), 'Not recorded by the agent; drafted by the engine from iterations 1 to 9. Calls: look ×9.', 'the draft says what was done, and that the agent did not record it');
select is((select array_agg(n) from request where body::text like '%[completed step 1: Not recorded by the agent%'), array[10, 11], 'the draft closes the block');
select is((select seq from work_ledger), 1, 'the draft is numbered as any entry');
select is(rebuilt(), 11::bigint, 'every request is rebuilt to the byte');

select * from finish();
rollback;
