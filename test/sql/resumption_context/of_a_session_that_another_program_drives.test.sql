-- The packet of a session that another program drives has what was found, and what a human asked last.
begin;
select plan(4);

select take(journal_session_create('chat', 'A session'));

select is(resumption_context(item()) ->> 'currentState', 'active', 'a session that another program drives is active');
select from ledger_append(item(), 'finding', 'The index is missing'), journal_log(item(), 'user_feedback', '{"message": "Add it then"}');
select is(resumption_context(item()) ->> 'workSummary', '- Found: The index is missing', 'what was found is part of the work');
select is(resumption_context(item()) ->> 'currentState', 'active; asked last: Add it then', 'what a human asked last says where it stands');
select is(resumption_context(item()) -> 'suggestedNextSteps', '["Continue with what was asked last."]', 'the next step is what was asked last');

select * from finish();
rollback;
