-- Code whose call waits for approval parks with its work and runs again when it is approved; after a crash nothing that may have happened is repeated.
begin;
select plan(10);

select tool('erase', 'unsafe', 'dangerous'), tool('execute_code', 'idempotent');
select agent('{"code_execution": true, "tools": ["look", "erase"], "require_approval": "dangerous", "max_result_chars": 1000}');
select submit('Compute it');
-- A call that the code makes, by its number.
create function pg_temp.nested(p_ordinal integer, p_name text, p_input json default '{}') returns json language sql as $$
  select tool_call_nested(item(), lease(), call('t1_1'), p_ordinal, p_name, p_input);
$$;
select drive();
create temporary table code as select answer('[["execute_code", {"code": "x"}]]') #> '{calls,0,code_tools}' as tools;
select tool_call_begin(item(), lease(), call('t1_1'));
select pg_temp.nested(0, 'look'), tool_call_settle(item(), lease(), call('t1_1.1'), 'seen');

select is(pg_temp.nested(1, 'erase') ->> 'kind', 'waiting', 'a call of code that needs approval waits');
select tool_call_suspend(item(), lease(), call('t1_1'));
select is(iteration_finish(item(), lease()) ->> 'kind', 'parked', 'with a call that waits the code and the work wait');
select is((select state_reason from item), 'waits for approval of erase', 'the item says for what it waits');
select tool_call_approve(call('t1_1.2'));
select is(drive() ->> 'kind', 'run_tools', 'approved, the code runs again');
select is((select array_agg(c ->> 'name') from json_array_elements(stage() -> 'calls') c), array['execute_code'], 'the code runs from its beginning');
select is(pg_temp.nested(1, 'erase') ->> 'kind', 'run', 'the call that was approved runs');
select tool_call_begin(item(), lease(), call('t1_1.2')), tool_call_begin(item(), lease(), call('t1_1'));
update foci set lease_expires_at = _now() - interval '1 second';
select from work_sweep();
select is(drive() ->> 'kind', 'run_tools', 'after a crash the code runs again');
select is((select status from tool_calls where id = call('t1_1.2')), 'uncertain', 'a call that may have happened is not repeated');
select matches(pg_temp.nested(1, 'erase') ->> 'content', 'may or may not have happened', 'the code is told that it may have happened');
select pg_temp.nested(2, 'look');
select tool_call_settle(item(), lease(), call('t1_1'), 'Half of it', true, null, 'all of it');
select results_eq($$ select ordinal, status from tool_calls where parent_call_id = call('t1_1') order by ordinal $$,
  $$ values (0, 'completed'), (1, 'uncertain'), (2, 'failed') $$, 'code that is over leaves no call open');

select * from finish();
rollback;
