-- After ledger_nudge_interval iterations without an entry a request ends with a reminder.
begin;
select plan(6);

select agent('{"tools": ["look"], "elide_budget": 15000, "ledger_nudge_interval": 3, "stall_limit": 0}');
select submit('Fix it');

select play('[[["look", "x"]]]') from generate_series(1, 7);

select is((select array_agg(n order by n) from request where body::text like '%several iterations without updating%'), array[4, 5, 6, 7], 'the fourth request has the reminder, which stays where it was put');
select is((select array_agg(iteration order by iteration) from v_nudges), array[4, 7], 'three iterations later there is another reminder');
select is((select content ->  0 ->> 'text' from messages where metadata ->> 'kind' = 'nudge' limit 1),
  '[engine] You have completed several iterations without updating your ledger. Consider recording your progress — findings, completed steps, or plan updates. Your ledger persists across context compactions; conversation history does not. Add ledger_append(entry_type: "step", content: what you did and the outcome) along with your next call.',
  'the reminder has the words of the design');
select is((select array_agg(is_heeded order by iteration) from v_nudges), array[false, false], 'a reminder that was not heeded is known');
select is(rebuilt(), 7::bigint, 'every request is rebuilt to the byte');
select is(shape(4), 'user:text assistant:tool_use user:tool_result assistant:tool_use user:tool_result assistant:tool_use user:tool_result,text', 'the reminder stands behind the results');

select * from finish();
rollback;
