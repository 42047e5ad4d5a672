-- The first reminder says why an agent should record; those that follow say only what to do, and before a draft what will happen.
begin;
select plan(4);

select agent('{"tools": ["look"], "elide_budget": 15000, "ledger_nudge_interval": 2, "stall_limit": 0}');
select submit('Fix it');
select play('[[["look", "x"]]]') from generate_series(1, 11);
create temporary table reminder as
  select m.content -> 0 ->> 'text' as says, row_number() over (order by t.iteration) as n from messages m join turns t on t.id = m.turn_id where m.metadata ->> 'kind' = 'nudge';

select is((select count(*) from reminder), 4::bigint, 'two reminders come before each of the two drafts');
select is((select count(*) from reminder where says like '%Your ledger persists across context compactions%'), 1::bigint, 'only the first says why');
select is((select array_agg(n order by n) from reminder where says like '%the engine will draft a step%'), array[2, 4]::bigint[], 'the last before a draft says so');
select is((select count(distinct says) from reminder), 3::bigint, 'the third has words of its own');

select * from finish();
rollback;
