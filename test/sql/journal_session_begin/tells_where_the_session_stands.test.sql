-- A session of an interactive client that begins is active again, and its model is told where it stands and what is going on beside it.
begin;
select plan(6);

select take(journal_session_open('/home/anna/project', 'An interactive session'));
create temporary table beside as select id from work_submit('fix', 'Beside it');
select matches(journal_session_begin(item(), '/home/anna/project'), E'^What else is going on', 'a session in which nothing is recorded is told of other work alone');
select journal_log(item(), 'user_feedback', '{"message": "Fix the rounding"}');
select from journal_session_status(item(), 'paused');
select matches(journal_session_begin(item(), '/home/anna/project'), E'## Where it stands\n\nactive; asked last: Fix the rounding\n.*What else is going on', 'one that goes on is told where it stands, and is active');

select throws_ok($$ select journal_session_begin(item(), 'relative') $$, 'WL002', null, 'a directory is absolute');
select throws_ok($$ select journal_session_begin(id, '/home') from beside $$, 'WL002', null, 'work that we drive is no session of a client');
select throws_ok($$ select journal_session_begin('00000000-0000-0000-0000-000000000000', '/home') $$, 'WL001', null, 'the session exists');
select from journal_session_status(item(), 'completed');
select throws_ok($$ select journal_session_begin(item(), '/home') $$, 'WL003', null, 'a session that is over does not begin again');

select * from finish();
rollback;
