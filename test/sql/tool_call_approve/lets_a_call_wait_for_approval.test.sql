-- A call that is dangerous waits until it is approved; meanwhile others run, and when they have, the work parks.
begin;
select plan(11);

select tool('erase', 'unsafe', 'dangerous');
select agent('{"tools": ["look", "erase"], "require_approval": "dangerous", "approval_timeout": 600}', '{"max_concurrent": 1}');
select submit('Fix it');

select drive();
create temporary table asked as select answer('[["look"], ["erase", {"what": "first"}], ["erase", {"what": "second"}]]') as answer;
select is((select answer #>> '{calls,0,name}' from asked), 'look', 'a safe call runs');
select is((select json_array_length(answer -> 'calls') from asked), 1, 'a dangerous call waits');
select results_eq($$ select tool_name, input ->> 'what', risk from v_approvals order by 2 $$, $$ values ('erase', 'first', 'dangerous'), ('erase', 'second', 'dangerous') $$, 'people see what waits, with its arguments');
select run();
select is(iteration_finish(item(), lease()) ->> 'kind', 'parked', 'when the other calls have run the work parks');
select is((select state_reason from item), 'waits for approval of erase', 'the item says for what it waits');
select is((select slot_faculty from item), null, 'the item leaves its slot to others');
select is(claim() ->> 'kind', 'not_due', 'nobody drives it meanwhile');
select results_eq($$ select _needs_approval('moderate', jsonb_build_object('require_approval', l)) from unnest('{never,dangerous,moderate}'::text[]) l $$, '{false,false,true}'::boolean[], 'a moderate risk waits where the faculty says so');
select throws_ok($$ select faculty_save('{"name": "x", "engage": {"require_approval": "always"}}') $$, 'WL002', null, 'an unknown level of approval is refused');
select throws_ok($$ select tool_call_approve(gen_random_uuid()) $$, 'WL001', null, 'a call that is not there has no approval');
select throws_ok($$ select tool_call_reject(call('t1_1')) $$, 'WL001', null, 'a safe call has no approval');

select * from finish();
rollback;
