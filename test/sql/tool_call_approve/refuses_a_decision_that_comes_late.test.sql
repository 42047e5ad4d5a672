-- Code waits for the approval of a call of its own and ends in another way: its call is over, nobody is asked any more, and who
-- decides all the same is told why not.
begin;
select plan(11);

select tool('execute_code', 'idempotent');
select tool('send', 'unsafe', 'dangerous');
select agent('{"tools": ["send"], "code_execution": true, "require_approval": "dangerous"}');
-- New work whose code waits for the approval of its call: its code and its call.
create temporary table held (code uuid, call uuid);
create function pg_temp.waiting_code() returns held language plpgsql as $$
declare
  v_held held;
begin
  perform submit('Fix it'), drive();
  v_held.code := answer('[["execute_code", {"code": "send()"}]]') #>> '{calls,0,id}';
  perform tool_call_begin(item(), lease(), v_held.code), tool_call_nested(item(), lease(), v_held.code, 0, 'send', '{}');
  v_held.call := (select id from tool_calls where parent_call_id = v_held.code);
  return v_held;
end
$$;
create function pg_temp.decide(p_call uuid) returns text language plpgsql as $$
begin
  perform tool_call_approve(p_call);
  return 'approved';
exception when others then
  return sqlstate || ': ' || replace(sqlerrm, p_call::text, 'X');
end
$$;

insert into held select * from pg_temp.waiting_code();
select tool_call_settle(item(), lease(), code, '[timeout] The code did not end in 120 s.', true) from held;
select is(pg_temp.decide(call), 'WL008: tool call X cannot be approved: it has ended: [engine] Stopped: the code that called it ended.', 'a call of code that returned is not approved any more') from held;
select is((select decision from approvals where tool_call_id = call), 'expired', 'the approval of a call of code that returned has expired') from held;

delete from held;
insert into held select * from pg_temp.waiting_code();
select from tool_hook_record(item(), lease(), (select code from held), 'after_tool', '{"stdout": "", "exit_code": 0}', 'returned');
select is(pg_temp.decide(call), 'WL008: tool call X cannot be approved: it has ended: [engine] Stopped: the code that called it ended.', 'a call of code whose result went through a hook is not approved any more') from held;
select is(iteration_finish(item(), lease()) ->> 'kind', 'continued', 'no call keeps the iteration of such code open') from held;

delete from held;
insert into held select * from pg_temp.waiting_code();
select from work_message(item(), 'Stop', true);
select is(pg_temp.decide(call), 'WL008: tool call X cannot be approved: it has ended: [engine] Stopped: a person interrupted.', 'a call of code that a person stopped is not approved any more') from held;
select throws_ok(format($$ select tool_call_reject('%s') $$, call), 'WL008', null, 'a call of code that a person stopped is not rejected any more') from held;

delete from held;
insert into held select * from pg_temp.waiting_code();
select from work_cancel(item());
select is(pg_temp.decide(call), 'WL008: tool call X cannot be approved: its work item is cancelled', 'a call of cancelled work is not approved any more') from held;

delete from held;
insert into held select * from pg_temp.waiting_code();
select from tool_call_suspend(item(), lease(), (select code from held));
select give_up();
select is((select state from item), 'queued', 'the attempt of the work is given up') from held;
select is(pg_temp.decide(call), 'WL008: tool call X cannot be approved: it has ended: [engine] Stopped: given up.', 'a call of an attempt that was given up is not approved any more') from held;

select is((select count(*)::integer from v_approvals), 0, 'nobody is asked any more');
select is((select count(*)::integer from approvals where decision is null), 0, 'no approval is left open');

select * from finish();
rollback;
