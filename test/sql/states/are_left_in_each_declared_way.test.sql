-- Each way from state to state that _work_transitions() has is taken here by the function that it names, and no other way is.
begin;
select plan(2);

set local work_ledger.now = '2026-11-24 12:00Z';
create table work_test.way (mover text, from_state text, to_state text, primary key (mover, from_state, to_state));
create function work_test.note_way() returns trigger language plpgsql as $$
declare
  v_stack text;
begin
  get diagnostics v_stack = pg_context;
  insert into work_test.way
  values (substring(v_stack from 'function _work_move\([^\n]*\n(?:(?!PL/pgSQL function)[^\n]*\n)*PL/pgSQL function (\w+)\('), old.state, new.state)
  on conflict do nothing;
  return null;
end
$$;
create trigger note_way after update of state on work_items for each row when (old.state <> new.state) execute function work_test.note_way();

select tool('erase', 'unsafe', 'dangerous');
-- The faculty of the items in hand, with more of its own; of another one nobody lives where it may work.
create function pg_temp.worker(p_more jsonb default '{}') returns void language sql as $$
  select agent('{"tools": ["erase"], "require_approval": "dangerous", "approval_timeout": 600}', p_more)
$$;
select pg_temp.worker(), faculty_save('{"name": "far", "accepts": ["far"], "hosts": ["nowhere"]}');

-- A new item in this state, in hand; null: its last attempt is none.
create function pg_temp.put(p_state text, p_attempts integer default null) returns void language plpgsql as $$
begin
  perform take(case p_state
    when 'created' then journal_session_create('c', 'Look')
    when 'waiting' then work_submit('far', 'Look')
    else work_submit('analyze', 'Look', p_max_attempts => p_attempts) end);
  case p_state
    when 'claimed', 'waiting' then perform claim();
    when 'running' then perform drive();
    when 'paused' then perform work_pause(item());
    else null;
  end case;
end
$$;
create function pg_temp.release() returns void language sql as $$ select iteration_release(item(), lease()) $$;
-- An item that waits for approval of two calls, the first of which is approved.
create function pg_temp.half_approved() returns void language plpgsql as $$
begin
  perform pg_temp.put('running'), answer('[["erase", {"what": "first"}], ["erase", {"what": "second"}]]'), iteration_finish(item(), lease());
  perform tool_call_approve(a.tool_call_id) from v_approvals a where a.work_item_id = item() and a.input ->> 'what' = 'first';
end
$$;
-- Another item takes the only slot of the faculty.
create function pg_temp.full() returns void language sql as $$
  select pg_temp.worker('{"max_concurrent": 1}'), focus_claim((work_submit('analyze', 'Look', p_priority => 9)).id, 'w')
$$;

do $$
declare
  v_state text;
begin
  foreach v_state in array '{created,queued,claimed,running,waiting,paused}'::text[] loop
    perform pg_temp.put(v_state);
    perform work_complete(item(), 'Done', p_lease => lease());
    perform pg_temp.put(v_state);
    perform work_fail(item(), 'It cannot be done', lease());
    perform pg_temp.put(v_state), work_cancel(item());
  end loop;
  foreach v_state in array '{created,queued,waiting}'::text[] loop
    perform pg_temp.put(v_state), work_pause(item());
  end loop;
  foreach v_state in array '{claimed,running}'::text[] loop
    perform pg_temp.put(v_state), give_up();
    perform pg_temp.put(v_state), work_pause(item()), give_up();
    perform pg_temp.put(v_state, 1), give_up();
    perform pg_temp.put(v_state), work_pause(item()), pg_temp.release();
    perform pg_temp.put(v_state), pg_temp.release(), work_pause(item());
    perform pg_temp.put(v_state), pg_temp.release(), pg_temp.full(), claim(), pg_temp.worker();
    perform pg_temp.put(v_state), pg_temp.release(), pg_temp.worker('{"hosts": ["nowhere"]}'), claim(), pg_temp.worker();
  end loop;
  perform pg_temp.put('paused'), work_resume(item());
end
$$;

-- The wait is over: driven again, or no slot is free.
select pg_temp.half_approved(), claim();
select tool_call_begin(item(), lease(), k.id) from tool_calls k where k.work_item_id = item() and k.status = 'pending';
select tool_call_settle(item(), lease(), k.id, 'erased') from tool_calls k where k.work_item_id = item() and k.status = 'running';
select iteration_finish(item(), lease());
select pg_temp.half_approved(), pg_temp.full(), claim(), pg_temp.worker();

select from lease_renew('a', '{}', '{}', 'left', p_daemon => 'd1');
select pg_temp.put('queued'), claim(p_worker => 'a');
select workspace_bind(item(), lease(), 'd1');
select pg_temp.release();
delete from workers where id = 'a';
select claim(), workspace_abandon(item());

select pg_temp.put('created'), journal_session_status(item(), 'paused'), journal_session_status(item(), 'active'), journal_session_status(item(), 'completed');
select pg_temp.put('created'), journal_session_status(item(), 'paused'), journal_session_status(item(), 'completed');

do $$
declare
  v_status text;
begin
  foreach v_status in array '{success,failed,cancelled}'::text[] loop
    perform os_task('from created to ' || v_status);
    perform os_task('from created to ' || v_status, jsonb_build_object('completionStatus', v_status));
    perform os_task('from paused to ' || v_status);
    perform work_pause(id) from work_items where external_id = 'from paused to ' || v_status;
    perform os_task('from paused to ' || v_status, jsonb_build_object('completionStatus', v_status));
  end loop;
  perform os_task('paused for a time');
  perform work_pause(id) from work_items where external_id = 'paused for a time';
  perform os_task('paused for a time');
end
$$;
-- A followed session that nobody writes any more.
select pg_temp.put('created'), later('1 hour'), _recorded_rest(item());
-- Sessions of which nothing is heard, as long as a policy says.
select pg_temp.put('created'), pg_temp.put('created'), journal_session_status(item(), 'paused');
do $$
begin
  perform later('1 day'), retention_policy_save('1 hour');
  while not (work_retention_run() ->> 'is_done')::boolean loop null; end loop;
end
$$;
select session_import('{"format": "codex", "sessionId": "s", "prompt": "Look", "exchanges": [{"text": "Done"}]}');

select is_empty($$ select w.mover, w.from_state, w.to_state from work_test.way w
                   except select t.mover, f, t.to_state from _work_transitions() t, unnest(t.from_states) f $$, 'no other way was taken');
select is_empty($$ select t.mover, f, t.to_state from _work_transitions() t, unnest(t.from_states) f
                    where (t.mover, f) not in (select '_session_import', s.state from _work_states() s where s.state <> 'created')
                   except select w.mover, w.from_state, w.to_state from work_test.way w $$, 'and each of them was');

select * from finish();
rollback;
