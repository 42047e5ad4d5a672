-- A decision of a person whose job was lost is seen by the next sweep, long before the time to decide is over; an open question makes no job.
begin;
select plan(4);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select tool('push', 'unsafe', 'dangerous');
select agent('{"tools": ["push"], "require_approval": "dangerous"}');
select submit('Fix it');
select drive(), answer('[["push"]]');
select is(iteration_finish(item(), lease()) ->> 'kind', 'parked', 'a call waits for a person');
delete from graphile_worker._private_jobs;
select is((work_sweep() ->> 'enqueued')::integer, 0, 'while nobody decides there is nothing to do');
select from tool_call_approve(call('t1_1'));
delete from graphile_worker._private_jobs;
select is((work_sweep() ->> 'enqueued')::integer, 1, 'the decision is seen');
select is(drive() #>> '{calls,0,name}', 'push', 'and the call runs');

select * from finish();
rollback;
