-- A worker that says how long it has driven an item goes on with the next iteration, without a job and without a claim.
begin;
select plan(15);

set local work_ledger.now = '2026-11-22 12:00Z';
select agent('{"max_turns": 50}');
select submit();
create function own_jobs() returns bigint language sql as $$ select count(*) from graphile_worker.jobs where key like '%' || item() || '%' and locked_at is null $$;
-- The job that brought the worker here; others are those that wait.
create function taken() returns void language sql as $$ update graphile_worker._private_jobs set locked_at = now(), locked_by = 'w' where key like '%' || item() || '%' $$;
create function said() returns json language sql as $$ select drive(); select answer('[["note", "so"]]'); select run(); select '{}'::json $$;
create function finished(p_iteration integer, p_seconds float) returns json language sql as $$ select iteration_finish(item(), lease(), p_iteration, p_seconds) $$;
-- What is left when the worker does not go on is claimed anew.
create function goes_on(p_iteration integer, p_seconds float) returns boolean language plpgsql as $$
declare
  v_says json;
begin
  perform said(), taken();
  v_says := finished(p_iteration, p_seconds);
  return coalesce(v_says ->> 'kind' = 'continued' and v_says #>> '{next,kind}' = 'call_model', false);
end
$$;

select budget_set(item(), 'seconds', 100);
select said(), taken();
create temporary table first as select lease() as lease, finished(1, 0) as says;
select is((select says #>> '{next,kind}' from first), 'call_model', 'the next request comes with the end of the iteration');
select is((select (says ->> 'iteration')::integer from first), 2, 'of the next iteration');
select ok(lease_hash = sha256(uuid_send((select lease from first))) and own_jobs() = 0, 'the lease is the same, and there is no job') from item;
create temporary table again as select finished(1, 0) as says;
select is((select says #>> '{next,request}' from again), (select says #>> '{next,request}' from first), 'asked again, it says the same');
select is((select iteration from foci where id = focus()), 1, 'and has counted the iteration once');

select later('7 seconds');
update work_test.held set turn = (select (says #>> '{next,turn_id}')::uuid from again) where held.item = item();
insert into work_test.request select 2, item(), turn(), says #> '{next,request}' from again;
select answer('[["note", "so"]]'), run();
select finished(2, 7);
select is((select spent from budgets where work_item_id = item()), 7::numeric, 'what it has driven counts when it goes on');
select iteration_release(item(), lease());

select ok(goes_on(3, 100), 'for as long as nothing waits');
select iteration_release(item(), lease());
create temporary table other as select (work_submit('analyze', 'Wait for a worker', p_priority => -1)).id;
select ok(goes_on(4, 100), 'or only what is less urgent');
select iteration_release(item(), lease());
update graphile_worker._private_jobs set priority = 0 where key like '%' || (select id from other) || '%';
select ok(goes_on(5, 9), 'what is as urgent waits for ten seconds');
select iteration_release(item(), lease());
select is(array[goes_on(6, 10)::text, own_jobs()::text, (select lease_hash::text from item)], array['false', '1', null], 'then the lease is released, and there is a job');
update graphile_worker._private_jobs set priority = -1 where key like '%' || (select id from other) || '%';
select ok(not goes_on(7, 0), 'what is more urgent does not wait');
delete from graphile_worker._private_jobs where key like '%' || (select id from other) || '%';
select from lease_renew('keeper', '{}', '{}', p_tree_id => item());
select ok(not goes_on(8, 0), 'nor does the worker that keeps the tree for itself');
delete from workers where id = 'keeper';
select said(), taken();
select from faculty_save('{"name": "worker", "accepts": ["analyze"], "hosts": ["elsewhere"]}');
select is(finished(9, 0) ->> 'next', null, 'a worker where the faculty does not want its work any more releases it');
select agent('{"max_turns": 50}');
select said(), taken();
select work_pause(item());
select is(finished(10, 0) ->> 'next', null, 'an item that is to pause is released');

select work_resume(item());
update foci set max_tokens = 1000 where id = focus();
select drive(), answer('["so"]', p_more => '{"stop_reason": "max_tokens"}');
select cmp_ok((finished(11, 0) #>> '{next,request,max_tokens}')::integer, '>', 1000, 'a response that was cut off has more room the next time');

select * from finish();
rollback;
