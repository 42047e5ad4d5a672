-- An interruption of the very first request makes it anew, with the digest and every message, as often as somebody interrupts.
begin;
select plan(11);

select agent('{"workspace": "none"}');
create temporary table other as select * from work_submit('analyze', 'Another''s work');
select drive(id), ledger_append(id, 'plan', 'Their plan', p_lease => lease(id)) from other;
select submit('A task');
create function pg_temp.next() returns text language sql as $$ select concat_ws(' ', s ->> 'kind', s #>> '{request,messages}') from drive() s $$;

select alike(pg_temp.next(), 'call_model%Their plan%', 'the first request has the digest');
select is((select count(*) from awareness_shown where focus_id = focus()), 0::bigint, 'the digest counts as read by nobody yet');
select from work_message(item(), 'Only March, please', true);
select alike(pg_temp.next(), 'call_model%A task%Their plan%Only March, please%', 'broken off, the request is made anew, with the digest and the message');
select is((select iteration from turns where id = turn()), 1, 'the request that is made anew is the first again');
select from work_message(item(), 'And quickly', true);
select alike(pg_temp.next(), 'call_model%Their plan%Only March, please%And quickly%', 'interrupted again, it is made anew again');

-- What the model refused for its size was not read either.
select is(iteration_fail(item(), lease(), '{"class": "context_overflow"}') ->> 'kind', 'retry', 'a request that is refused for its size is tried again');
select alike(pg_temp.next(), 'call_model%Their plan%Only March, please%And quickly%', 'a request that was refused for its size is made anew');

-- Nor what an attempt asked that failed.
update foci set model_error_count = 19 where work_item_id = item();
select is(iteration_fail(item(), lease(), '{"class": "timeout"}') ->> 'kind', 'queued', 'an attempt that never got an answer is over');
update work_items set run_at = '-infinity' where id = item();
select alike(pg_temp.next(), 'call_model%# Attempt 2%Their plan%Only March, please%And quickly%', 'the next attempt is told all of it');
select answer('["Done."]');
select results_eq($$ select attempt, iteration, kind, content from v_awareness_shown where reader_id = item() $$, $$ values (2, 1, 'under way', 'Another''s work') $$, 'who was told what is known once a request is answered');
select is((select count(*) from inbox where turn_id = turn()), 2::bigint, 'which request carried the messages is known');

select * from finish();
rollback;
