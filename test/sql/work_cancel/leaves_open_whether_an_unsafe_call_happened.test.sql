-- A call that a cancel cuts off may have taken effect; only one that cannot have, or that does no harm, has failed.
begin;
select plan(4);

select tool('pay', 'unsafe');
select agent('{"tools": ["look", "pay"]}');
select submit('Fix it');
select claim();
select from turn_record(item(), lease(), (iteration_begin(item(), lease()) ->> 'turn_id')::uuid, '{"stop_reason": "tool_use", "content": [
  {"type": "tool_use", "id": "done", "name": "pay", "input": {}}, {"type": "tool_use", "id": "running", "name": "pay", "input": {}},
  {"type": "tool_use", "id": "looking", "name": "look", "input": {}}, {"type": "tool_use", "id": "later", "name": "pay", "input": {}}]}');
select from tool_calls k, tool_call_begin(item(), lease(), k.id) where k.provider_id <> 'later';
select from tool_calls k, tool_call_settle(item(), lease(), k.id, 'paid') where k.provider_id = 'done';
select from work_cancel(item(), 'no longer wanted');

create function pg_temp.of(p_id text) returns text language sql as $$ select status || ': ' || (result #>> '{}') from tool_calls where provider_id = p_id $$;
select is(pg_temp.of('running'), 'uncertain: [engine] Stopped: no longer wanted.', 'an unsafe call that ran may have happened');
select is(pg_temp.of('looking'), 'failed: [engine] Stopped: no longer wanted.', 'one that only looks has failed');
select is(pg_temp.of('later'), 'failed: [engine] Stopped: no longer wanted.', 'an unsafe one that had not begun, too');
select is(pg_temp.of('done'), 'completed: paid', 'what was done stays done');

select * from finish();
rollback;
