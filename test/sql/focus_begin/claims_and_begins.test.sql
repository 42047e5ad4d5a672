-- A claim and the first stage of its iteration in one call, where nothing stands between them.
begin;
select plan(12);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent();
select submit();
create temporary table said as select focus_begin(item(), 'worker-1') as answer;
select is((select answer #>> '{claim,kind}' from said), 'claimed', 'the worker has the lease');
select is((select answer #>> '{begin,kind}' from said), 'call_model', 'and its first request');
select is((select answer #> '{begin,request}' from said)::jsonb, (select context_at(id) from turns)::jsonb, 'which is that of its turn');
select is(focus_begin(item(), 'worker-2') #>> '{claim,kind}', 'busy', 'a second worker does not get the lease');
select is(focus_begin(item(), 'worker-2') ->> 'begin', null, 'and no request');
select from turn_record(item(), (select answer #>> '{claim,lease}' from said)::uuid, (select answer #>> '{begin,turn_id}' from said)::uuid,
  '{"stop_reason": "end_turn", "usage": {"input_tokens": 1}, "content": [{"type": "text", "text": "Done."}]}');
select is((select status from turns), 'completed', 'the lease holds for what follows');

select submit('Fix it here');
update work_items set workspace_dir = '/srv/app' where id = item();
select is((select concat_ws(' ', f #>> '{claim,kind}', f #>> '{begin,kind}') from focus_begin(item(), 'worker-1') f), 'claimed', 'a directory is looked at first');

select submit('Fix it again');
select budget_set(item(), 'tokens', 1000000);
select claim(p_worker => 'worker-1');
select iteration_begin(item(), lease());
set local work_ledger.now = '2026-11-20 12:01:00+00';
select is((select concat_ws(' ', f #>> '{claim,kind}', f #>> '{begin,kind}') from focus_begin(item(), 'worker-2') f), 'claimed',
  'nor is begun what gave back a reservation: budgets come last in a transaction');

create function pg_temp.refuse() returns trigger language plpgsql as $$ begin raise 'no turn today'; end $$;
create trigger refuse before insert on turns for each row execute function pg_temp.refuse();
select submit('Fix it at last');
create temporary table refused as select focus_begin(item(), 'worker-1') as answer;
select is((select answer #>> '{claim,kind}' from refused), 'claimed', 'a stage that fails does not undo the claim');
select is((select answer ->> 'begin' from refused), null, 'and is to be called');
select throws_ok(format($$ select iteration_begin(item(), %L) $$, (select answer #>> '{claim,lease}' from refused)), 'P0001', 'no turn today', 'so that whoever calls it meets the error');
select throws_ok($$ select focus_begin(item(), '') $$, 'WL002', null, 'a claim is by a worker');

select * from finish();
rollback;
