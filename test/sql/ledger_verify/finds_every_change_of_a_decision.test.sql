-- Whatever the owner of the tables changes by hand in the decisions on calls is found once the turn of the call is over.
begin;
select plan(12);

select tool('drop_table', 'unsafe', 'dangerous');
select agent('{"tools": ["drop_table", "look"], "require_approval": "dangerous"}');
select submit('Tidy');
select play('[[["drop_table", {"name": "a"}], ["drop_table", {"name": "b"}], ["look"]]]');
select tool_call_approve(call('t1_1'));
select tool_call_reject(call('t1_2'), 'Not that one');
select drive();
select from tool_call_begin(item(), lease(), call('t1_1'));
select from tool_call_settle(item(), lease(), call('t1_1'), 'Gone');
select from iteration_finish(item(), lease());
select drive();
select is_empty($$ select * from ledger_verify() $$, 'two decisions as they were made, in a turn that is over, of an item that is not');
create function pg_temp.sealed() returns text language sql as $$
  select format('turn %s is not as it was sealed, or the ledger is not as it was then', turn_id) from tool_calls where id = call('t1_1')
$$;

select is(found('approvals', format('update approvals set %s where tool_call_id = %L', c.change, call('t1_2'))), pg_temp.sealed(), c.what)
  from (values
    ('which role', $$decided_by = 'somebody else'$$), ('which person', $$person = 'Somebody Else'$$), ('what', $$decision = 'approved'$$), ('when', $$decided_at = decided_at + interval '1 second'$$),
    ('for which arguments', $$input_hash = 'forged'$$), ('how dangerous it was', $$risk = 'safe'$$), ('why', $$reason = 'Gladly'$$),
    ('until when', $$expires_at = expires_at + interval '1 second'$$), ('since when', $$requested_at = requested_at - interval '1 second'$$)) as c(what, change);
select is(found('approvals', format('delete from approvals where tool_call_id = %L', call('t1_2'))), pg_temp.sealed(), 'a decision taken away');
select is(found('approvals', format($$ insert into approvals (tool_call_id, work_item_id, input_hash, risk, expires_at, decision, decided_at)
  values (%L, item(), 'x', 'dangerous', now(), 'approved', now()) $$, call('t1_3'))), pg_temp.sealed(), 'one that was never made');

select * from finish();
rollback;
