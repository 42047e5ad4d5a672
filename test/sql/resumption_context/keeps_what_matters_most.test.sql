-- However small a packet is, it has the task, what is open and what failed; with room it has more, the newest first.
begin;
select plan(7);

select submit('Find why the import is slow. ' || repeat('It was fast once. ', 500));
select from generate_series(1, 60) n, lateral ledger_append(item(), 'step', format('Step %s: looked at part %s and %s', n, n, repeat('wrote it down, ', 10)));
select from generate_series(1, 30) n, lateral ledger_append(item(), 'decision', format('Decision %s: %s', n, repeat('because of this, ', 10)));
select from generate_series(1, 3) n, lateral ledger_append(item(), 'error', 'No such table as ' || n);
select from generate_series(1, 3) n, lateral ledger_append(item(), 'error', 'No such table as 1');
select from ledger_append(item(), 'plan', E'- [x] look\n- [ ] add the index\n- [ ] measure again');
create temporary table packet as select t, resumption_context(item(), t) as p from unnest('{500, 501, 777, 2000, 8000, 100000}'::integer[]) t;

select is((select bool_and(p ->> 'originalPrompt' like 'Find why the import is slow.%') from packet), true, 'every packet has the task');
select is((select bool_and(p -> 'pendingActions' = '["add the index", "measure again"]') from packet), true, 'every packet has what is open');
select is((select bool_and(p -> 'errorHistory' @> '["No such table as 1", "No such table as 2", "No such table as 3"]') from packet), true, 'every packet has what failed, each once');
select is((select array_agg(distinct n) from packet, lateral (select count(*) from jsonb_object_keys(p)) k(n)), '{9}', 'every packet has nine fields');
select is((select p from packet where t = 100000) - 'tokenCount' ->> 'originalPrompt', (select description from item), 'a packet with room has the whole task');
select is((select jsonb_array_length(p -> 'keyDecisions') from packet where t = 100000), 30, 'a packet with room has every decision');
select alike((select p ->> 'workSummary' from packet where t = 2000), '%Step 60:%', 'a packet with little room has the newest steps');

select * from finish();
rollback;
