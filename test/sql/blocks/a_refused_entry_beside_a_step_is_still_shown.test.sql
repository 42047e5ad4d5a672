-- An entry that was refused beside a step leaves with no block before the model has seen why.
begin;
select plan(4);

select agent('{"elide_budget": 0, "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select submit('Fix it');

select play(format('[
  [["note", "%s"]],
  [["step", "Looked at it"], ["finding", "  "]],
  [["note", "x"]]]', repeat('It is slow. ', 300))::jsonb);
select is((select array_agg(status order by ordinal) from tool_calls where turn_id = (select turn_id from request where n = 2)), array['completed', 'failed'], 'the step is taken, the finding beside it is not');
select alike((select body::text from request where n = 3), '%[completed step 1: see below]%', 'the block before the step is closed');
select alike((select body::text from request where n = 3), '%t2\_2%', 'what was refused is shown');
select alike((select body::text from request where n = 3), '%' || (select replace(left(result #>> '{}', 40), '"', '_') from tool_calls where provider_id = 't2_2') || '%', 'what was refused is shown with the reason');

select * from finish();
rollback;
