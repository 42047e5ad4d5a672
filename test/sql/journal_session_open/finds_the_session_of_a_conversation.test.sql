-- A conversation with another program has one session that is open: it is found by the name of the conversation, or made.
begin;
select plan(6);

create temporary table session as select * from journal_session_create('chat-1', 'Build the thing');

select results_eq('select state, work_type, params from session', $$ values ('created', 'journal', '{"conversationId": "chat-1"}'::jsonb) $$, 'a session is a work item that another program drives');
select is((journal_session_active('chat-1')).id, (select id from session), 'a session is found by its conversation');
select is((journal_session_active('chat-2')).id, null, 'another conversation has no session');
select is((journal_session_open('chat-1', 'Something else')).id, (select id from session), 'opening a conversation with a session gives that one');
select is((journal_session_open('chat-2', 'Another')).description, 'Another', 'opening a conversation without a session makes one');
select throws_ok($$ select journal_session_create(' ', 'x') $$, 'WL002', null, 'a conversation without a name is refused');

select * from finish();
rollback;
