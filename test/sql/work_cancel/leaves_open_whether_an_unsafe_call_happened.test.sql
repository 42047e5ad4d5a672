-- A call that a cancel cuts off may have taken effect; only one that cannot have, or that does no harm, has failed.
begin;
select plan(4);

select tool('pay', 'unsafe');
select agent('{"tools": ["look", "pay"]}');
select submit('Fix it');
select drive(), answer('[["pay"], ["pay"], ["look"], ["pay"]]');
select tool_call_begin(item(), lease(), call('t1_' || n)) from generate_series(1, 3) n;
select tool_call_settle(item(), lease(), call('t1_1'), 'paid');
select from work_cancel(item(), 'no longer wanted');

create function pg_temp.of(p_id text) returns text language sql as $$ select status || ': ' || (result #>> '{}') from tool_calls where id = call(p_id) $$;
select is(pg_temp.of('t1_2'), 'uncertain: [engine] Stopped: no longer wanted.', 'an unsafe call that ran may have happened');
select is(pg_temp.of('t1_3'), 'failed: [engine] Stopped: no longer wanted.', 'a call that only looks has failed');
select is(pg_temp.of('t1_4'), 'failed: [engine] Stopped: no longer wanted.', 'an unsafe call that had not begun has failed');
select is(pg_temp.of('t1_1'), 'completed: paid', 'a call that was completed stays completed');

select * from finish();
rollback;
