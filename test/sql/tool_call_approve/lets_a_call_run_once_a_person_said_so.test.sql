begin;
select plan(25);

select tool('erase', 'unsafe', 'dangerous');
select agent('{"tools": ["look", "erase"], "require_approval": "dangerous", "approval_timeout": 600}');
select throws_ok($$ select faculty_save('{"name": "x", "engage": {"require_approval": "always"}}') $$, 'WL002', null, 'the levels are named');
select submit('Mend it');
create function pg_temp.call_of(p_id text) returns uuid language sql as $$ select id from tool_calls where provider_id = p_id $$;
create function pg_temp.ask(p_ids text[]) returns json language sql as $$
  select drive();
  select turn_record(item(), lease(), turn(), json_build_object('stop_reason', 'tool_use',
    'content', (select json_agg(json_build_object('type', 'tool_use', 'id', i, 'name', case when i like 'look%' then 'look' else 'erase' end, 'input', json_build_object('what', i))) from unnest(p_ids) i)))
$$;

create temporary table asked as select pg_temp.ask(array['look1', 'erase1', 'erase2']) as answer;
select is((select answer #>> '{calls,0,name}' from asked), 'look', 'a safe call runs');
select is((select json_array_length(answer -> 'calls') from asked), 1, 'a dangerous one waits');
select results_eq($$ select tool_name, input ->> 'what', risk from v_approvals order by 2 $$, $$ values ('erase', 'erase1', 'dangerous'), ('erase', 'erase2', 'dangerous') $$, 'where people see it, with its arguments');
select tool_call_settle(item(), lease(), pg_temp.call_of('look1'), 'seen');
select is(iteration_finish(item(), lease()) ->> 'kind', 'parked', 'the work waits');
select is((select state_reason from work_items), 'waits for approval of erase', 'and says for what');
select is(focus_claim(item(), 'w') ->> 'kind', 'not_due', 'nobody drives it meanwhile');

select throws_ok(format($$ select tool_call_approve(%L, 'another hash') $$, pg_temp.call_of('erase1')), 'WL008', null, 'a word for other arguments is none');
select is((select decision from tool_call_approve(pg_temp.call_of('erase1'), (select input_hash from approvals where tool_call_id = pg_temp.call_of('erase1')), 'ada')), 'approved', 'one for these is');
select is((select decided_by from tool_call_approve(pg_temp.call_of('erase1'), p_by => 'bob')), 'ada', 'the first one counts');
select is(drive() #>> '{calls,0,input,what}', 'erase1', 'the approved call runs');
select is((select json_array_length(stage -> 'calls') from held), 1, 'and no other');
select tool_call_begin(item(), lease(), pg_temp.call_of('erase1'));
select tool_call_settle(item(), lease(), pg_temp.call_of('erase1'), 'erased');
select is(iteration_finish(item(), lease()) ->> 'kind', 'parked', 'the other call still waits');
select from tool_call_reject(pg_temp.call_of('erase2'), 'not that file');
select throws_ok(format($$ select tool_call_approve(%L) $$, pg_temp.call_of('erase2')), 'WL008', null, 'what is rejected stays so');
select is(drive() ->> 'calls', '[]', 'nothing is left to run');
select is(iteration_finish(item(), lease()) ->> 'kind', 'continued', 'the work goes on');
select matches((select messages::text from context_window((select id from foci))), 'a person rejected this call: not that file', 'and the model hears of the rejection');

-- Approved while other calls run.
select from pg_temp.ask(array['look2', 'erase3']);
select from tool_call_approve(pg_temp.call_of('erase3'));
select tool_call_settle(item(), lease(), pg_temp.call_of('look2'), 'seen');
select is(iteration_finish(item(), lease()), '{"kind": "continued", "iteration": 2}', 'an early word: the iteration is not over');
select is(drive() #>> '{calls,0,name}', 'erase', 'it runs the call');
select tool_call_settle(item(), lease(), pg_temp.call_of('erase3'), 'erased');
select from iteration_finish(item(), lease());

-- Nobody says anything.
select from pg_temp.ask(array['erase4']);
select from iteration_finish(item(), lease());
set local work_ledger.now = '2099-01-01';
select is((select count(*) from v_approvals), 0::bigint, 'after a while it is too late');
select throws_ok(format($$ select tool_call_approve(%L) $$, pg_temp.call_of('erase4')), 'WL008', null, 'for a word');
select is(drive() ->> 'kind', 'run_tools', 'the work goes on by itself');
select is((select result #>> '{}' from tool_calls where provider_id = 'erase4'), '[engine] Not executed: nobody approved this call in time.', 'and the model is told');
select throws_ok($$ select tool_call_approve(gen_random_uuid()) $$, 'WL001', null, 'a call that needs no word has none');
select throws_ok(format($$ select tool_call_reject(%L) $$, pg_temp.call_of('look1')), 'WL001', null, 'nor has a safe one');

select * from finish();
rollback;
