-- work_ledger_check() reports each invariant of turns, calls and waits that the owner breaks by hand.
begin;
select plan(16);

-- What it finds after a statement, which is then undone; triggers are off, as only the owner can have it.
create function pg_temp.after(p_sql text) returns text language plpgsql as $$
declare
  v_found text;
begin
  begin
    set constraints all immediate;
    execute (select string_agg(format('alter table %I disable trigger all', t), '; ') from unnest('{turns,messages,tool_calls,elisions,approvals,inbox,work_items,fences}'::text[]) t);
    execute p_sql;
    select string_agg(distinct c.invariant || ': ' || regexp_replace(c.says, '[0-9a-f-]{36}', 'X', 'g'), '; ') into v_found from work_ledger_check() c;
    raise exception using errcode = 'ZZ000';
  exception when sqlstate 'ZZ000' then
    return v_found;
  end;
end
$$;

select tool('pay', 'unsafe'), tool('wipe', 'unsafe', 'dangerous');
select agent('{"tools": ["look", "pay", "wipe"], "require_approval": "dangerous"}');
select submit('Part of it');
select play('[["Done."]]');
select submit('Build it');
select play('[[["look"], ["pay"]]]');
select drive();
select answer('[["look"], ["wipe"]]');

select is_empty('select * from work_ledger_check()', 'a healthy conversation: nothing');
select is(pg_temp.after($$update turns set depth = 7 where id = turn()$$), 'turn: turn X is at depth 7, but its parent is at 0', 'turn');
select is(pg_temp.after($$update messages set role = 'user' where turn_id = turn() and role = 'assistant'$$), 'call: the response of turn X has 0 calls, but 2 are stored', 'a response that is gone');
select is(pg_temp.after($$insert into messages (turn_id, sequence, role, content) values (turn(), 5000, 'assistant', '[]')$$), 'answer: turn X has a message after its response; answer: turn X is completed, but has 2 responses', 'a second response');
select is(pg_temp.after($$update tool_calls set status = 'running', result = null, is_error = null, completed_at = null where tool_name = 'look' and turn_id <> turn(); update foci set outcome = 'failed', ended_at = now() where id = focus()$$), 'attempt: its attempt 1 ended (failed), but it is still running; call: call X of look is open, but its iteration has ended; call: call X of wipe is open, but its iteration has ended', 'calls of an attempt that is over');
select is(pg_temp.after($$insert into messages (turn_id, sequence, role, content) values (turn(), 5000, 'user', '[]')$$), 'answer: turn X has a message after its response', 'words behind a response');
select is(pg_temp.after($$update turns set iteration = 5 where id = turn()$$), 'iteration: attempt X has finished 1 iterations, but has responses for 2', 'a gap between iterations');
select is(pg_temp.after($$update turns set elision_id = gen_random_uuid() where id = turn()$$), 'cut: turn X refers to a cut that does not exist', 'cut');
select is(pg_temp.after($$update tool_calls set parent_call_id = (select id from tool_calls where turn_id = turn() and ordinal = 1), status = 'completed', is_error = false, result = '""', completed_at = now() where turn_id = turn() and ordinal = 0$$),
  'call: the response of turn X has 2 calls, but 1 are stored', 'a call that is not stored');
select is(pg_temp.after($$update tool_calls set status = 'pending', result = null, is_error = null, completed_at = null where tool_name = 'look' and turn_id <> turn()$$), 'call: call X of look is open, but its iteration has ended', 'a call left open');
select is(pg_temp.after($$update tool_calls set attempts = 2 where tool_name = 'pay'$$), 'effect: call X of pay, which must not run twice, was begun 2 times', 'an effect that happened twice');
select is(pg_temp.after($$update tool_calls set status = 'uncertain', is_error = true where tool_name = 'look' and turn_id <> turn()$$), 'effect: call X of look is uncertain, but could have run again', 'an uncertain call that was none');
select is(pg_temp.after($$insert into artifacts (content_hash, content) values (repeat('0', 64), ''); update tool_calls set artifact_hash = repeat('0', 64) where tool_name = 'pay'$$), 'artifact: the artifact of call X is not kept for its work item', 'artifact');
select is(pg_temp.after($$update tool_calls set status = 'completed', is_error = false, result = '""', completed_at = now(), wait_ends_at = null where tool_name = 'wipe'$$), 'approval: call X has ended, but still waits for approval', 'approval');
select is(pg_temp.after($$insert into work_items (id, parent_id, root_id, depth, work_type, description, state, resolved_at) values ('00000000-0000-7000-8000-000000000001', item(), item(), 1, 'x', 'x', 'completed', now());
    insert into fences (work_item_id, is_child, is_journal, is_over) values ('00000000-0000-7000-8000-000000000001', true, false, true)$$), 'result: it is completed, but its parent was told of its end 0 times', 'a result that was not delivered');
select is(pg_temp.after($$update work_items set state = 'waiting', run_at = 'infinity', state_reason = null where id = item()$$), 'lease: it is waiting, but a worker drives it; wait: it waits, but nothing can end the wait', 'wait');

select * from finish();
rollback;
