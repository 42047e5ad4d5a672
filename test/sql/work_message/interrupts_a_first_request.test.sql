begin;
select plan(11);

select agent('{"workspace": "none"}');
create temporary table other as select * from work_submit('analyze', 'Another''s work');
create temporary table theirs as select (focus_claim((select id from other), 'w') ->> 'lease')::uuid as lease;
select from iteration_begin((select id from other), (select lease from theirs));
select from ledger_append((select id from other), 'plan', 'Their plan', p_lease => (select lease from theirs));
select submit('A task');
create temporary table held (lease uuid, stage json);
create function pg_temp.next() returns text language plpgsql as $$
begin
  delete from held;
  insert into held (lease) select (focus_claim(item(), 'w') ->> 'lease')::uuid;
  update held set stage = iteration_begin(item(), lease);
  return (select concat_ws(' ', stage ->> 'kind', stage #>> '{request,messages}') from held);
end
$$;

select alike(pg_temp.next(), 'call_model%Their plan%', 'the first request has the digest');
select is((select count(*) from awareness_shown where focus_id = (select focus_id from work_items where id = item())), 0::bigint, 'which nobody has read yet');
select from work_message(item(), 'Only March, please', true);
select alike(pg_temp.next(), 'call_model%A task%Their plan%Only March, please%', 'broken off, it is made anew, with the digest and the message');
select is((select iteration from turns where id = (select (stage ->> 'turn_id')::uuid from held)), 1, 'and is the first again');
select from work_message(item(), 'And quickly', true);
select alike(pg_temp.next(), 'call_model%Their plan%Only March, please%And quickly%', 'as often as somebody interrupts');

-- What the model refused for its size was not read either.
select is(iteration_fail(item(), (select lease from held), '{"class": "context_overflow"}') ->> 'kind', 'retry', 'refused for its size');
select alike(pg_temp.next(), 'call_model%Their plan%Only March, please%And quickly%', 'it is made anew, too');

-- Nor what an attempt asked that failed.
update foci set model_error_count = 19 where work_item_id = item();
select is(iteration_fail(item(), (select lease from held), '{"class": "timeout"}') ->> 'kind', 'queued', 'an attempt that never got an answer');
update work_items set run_at = '-infinity' where id = item();
select alike(pg_temp.next(), 'call_model%# Attempt 2%Their plan%Only March, please%And quickly%', 'the next one is told all of it');
select from turn_record(item(), (select lease from held), (select (stage ->> 'turn_id')::uuid from held), '{"stop_reason": "end_turn", "content": [{"type": "text", "text": "Done."}]}');
select results_eq($$ select attempt, iteration, kind, content from v_awareness_shown where reader_id = item() $$, $$ values (2, 1, 'under way', 'Another''s work') $$, 'who was told what is known once it is answered');
select is((select count(*) from inbox where turn_id = (select (stage ->> 'turn_id')::uuid from held)), 2::bigint, 'and which request carried the messages');

select * from finish();
rollback;
