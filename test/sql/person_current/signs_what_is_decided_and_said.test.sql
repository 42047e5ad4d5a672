-- What a person decides or says bears the name, whoever the role is; who has no valid token decides nothing.
begin;
select plan(9);

select tool('erase', 'unsafe', 'dangerous');
select agent('{"tools": ["erase"], "require_approval": "dangerous"}');
select submit('Clean up');
select play('[[["erase", {"path": "a"}], ["erase", {"path": "b"}], ["erase", {"path": "c"}]]]');
create temporary table ann as select encode(sha256(token::bytea), 'hex') as proof from person_add('Ann');

select set_config('work_ledger.person_token', (select proof from ann), true);
select is((tool_call_approve(call('t1_1'))).person, 'Ann', 'an approval is in the name of a person');
select is((tool_call_reject(call('t1_2'), 'Not b')).person, 'Ann', 'so is a rejection');
select is((work_message(item(), 'Only a, please')).person, 'Ann', 'so is a message');
select is((work_pause(item(), 'until noon')).state_reason, 'until noon (Ann)', 'so is a pause');
select is((select decided_by from approvals where tool_call_id = call('t1_1')), session_user::text, 'the role that was logged in is noted next to it');

select set_config('work_ledger.person_token', repeat('0', 64), true);
select throws_ok($$ select tool_call_approve(call('t1_3')) $$, '42501', null, 'with a token that nobody has, nothing is approved');
select throws_ok($$ select work_cancel(item()) $$, '42501', null, 'and nothing is cancelled');

select set_config('work_ledger.person_token', (select proof from ann), true);
select is((select distinct state_reason from work_cancel(item())), 'cancelled (Ann)', 'so is an end');
select bag_eq($$ select entry_type, coalesce(content ->> 'decidedBy', content ->> 'by') from work_journal where work_item_id = item() and entry_type in ('tool_approved', 'tool_rejected', 'user_feedback') $$,
  $$ values ('tool_approved', 'Ann'), ('tool_rejected', 'Ann'), ('tool_rejected', null), ('user_feedback', 'Ann') $$, 'the journal tells who it was');

select * from finish();
rollback;
