begin;
select plan(22);

select take(work_submit('analyze', 'Find why the import is slow. ' || repeat('It was fast once. ', 500)));
select from item, generate_series(1, 60) n, lateral ledger_append(item.id, 'step', format('Step %s: looked at part %s and %s', n, n, repeat('wrote it down, ', 10)));
select from item, generate_series(1, 30) n, lateral ledger_append(item.id, 'decision', format('Decision %s: %s', n, repeat('because of this, ', 10)));
select from item, generate_series(1, 3) n, lateral ledger_append(item.id, 'error', 'No such table as ' || n);
select from item, generate_series(1, 3) n, lateral ledger_append(item.id, 'error', 'No such table as 1');
select from ledger_append(item(), 'plan', E'- [x] look\n- [ ] add the index\n- [ ] measure again');
create temporary table packet as select t, resumption_context(item(), t) as p from unnest('{500, 501, 777, 2000, 8000, 100000}'::integer[]) t;

select ok((p ->> 'tokenCount')::integer <= t and _tokens(char_length(p::text), 'claude-sonnet-5-5') <= t and char_length(p::text) <= t * 4, format('never over %s', t)) from packet;
select is((select bool_and(p ->> 'originalPrompt' like 'Find why the import is slow.%') from packet), true, 'the task is always there');
select is((select bool_and(p -> 'pendingActions' = '["add the index", "measure again"]') from packet), true, 'what is open too');
select is((select bool_and(p -> 'errorHistory' @> '["No such table as 1", "No such table as 2", "No such table as 3"]') from packet), true, 'and what failed, each once');
select is((select array_agg(distinct n) from packet, lateral (select count(*) from jsonb_object_keys(p)) k(n)), '{9}', 'nine fields');
select is((select p from packet where t = 100000) - 'tokenCount' ->> 'originalPrompt', (select description from item), 'with room the whole task');
select is((select jsonb_array_length(p -> 'keyDecisions') from packet where t = 100000), 30, 'and every decision');
select is(resumption_context(item(), 777), (select p from packet where t = 777), 'the same rows give the same packet');
select alike((select p ->> 'workSummary' from packet where t = 2000), '%Step 60:%', 'the newest steps first');
select is((select array_agg((p ->> 'tokenCount')::integer order by t) = array_agg((p ->> 'tokenCount')::integer order by (p ->> 'tokenCount')::integer) from packet), true, 'more room is used');
select throws_ok($$ select resumption_context(item(), 499) $$, 'WL002', null, 'no packet is smaller');
select from item, generate_series(1, 150) n, lateral ledger_append(item.id, 'plan', (select string_agg('- part ' || i || repeat(' x', 40), E'\n') from generate_series(1, 60) i)) where n = 1;
select throws_ok($$ select resumption_context(item(), 500) $$, 'WL002', null, 'it fails rather than drop what is open');
select ok(char_length(export_for_resumption(item(), 8000)) < 8000 * 4, 'as text, too');

create temporary table session as select * from journal_session_create('chat', 'A session');
select is(p ->> 'currentState', 'active', 'a session that another program drives is active') from session, resumption_context(id) p;
select from session s, lateral ledger_append(s.id, 'finding', 'The index is missing') l, lateral journal_log(s.id, 'user_feedback', '{"message": "Add it then"}');
select is(p ->> 'workSummary', '- Found: The index is missing', 'what was found is part of the work') from session, resumption_context(id) p;
select is(p ->> 'currentState', 'active; asked last: Add it then', 'and what a human asked last says where it stands') from session, resumption_context(id) p;
select is(p -> 'suggestedNextSteps', '["Go on with what was asked last."]', 'and what is next') from session, resumption_context(id) p;

select * from finish();
rollback;
