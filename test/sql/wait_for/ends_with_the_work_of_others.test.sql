-- wait_for parks an item, without a worker or a job, until work of any tree is over, and then brings what came of it.
begin;
select plan(10);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent();
create temporary table other as select n, (work_submit('analyze', 'Part ' || n)).id from generate_series(1, 2) n;
select submit('Wait for both');
create function pg_temp.other(p_n integer) returns uuid language sql as $$ select id from other where n = p_n $$;
create function pg_temp.jobs() returns bigint language sql as $$ select count(*) from graphile_worker.jobs where key like '%' || item() || '%' $$;
create function pg_temp.result() returns text language sql as $$ select result #>> '{}' from tool_calls where id = call('t1_1') $$;
create function pg_temp.end_other(p_n integer) returns void language sql as $$
  select drive(pg_temp.other(p_n)), answer('[["finding", "only for itself"]]', pg_temp.other(p_n)), run('[]', pg_temp.other(p_n)), iteration_finish(pg_temp.other(p_n), lease(pg_temp.other(p_n))),
         drive(pg_temp.other(p_n)), answer(jsonb_build_array('Part ' || p_n || ' is done'), pg_temp.other(p_n)), iteration_finish(pg_temp.other(p_n), lease(pg_temp.other(p_n)));
$$;
select drive(), answer(format('[["wait_for", {"work_item_ids": ["%s", "%s"]}]]', pg_temp.other(1), upper(pg_temp.other(2)::text))::jsonb), run();
select is(iteration_finish(item(), lease())::jsonb, '{"kind": "parked", "until": "2026-11-20T12:05:00+00:00"}', 'who waits for work of others is parked');
select is((select array[state, state_reason] from work_items where id = item()), '{waiting,waits for other work}', 'and says so');
select is((select array[waits_for, why] from v_now where work_item_id = item()), '{work,waits for 2 other work items}', 'people see for how much it waits');
delete from graphile_worker._private_jobs;
select pg_temp.end_other(1);
select is((select array[pg_temp.jobs()::text, drive() ->> 'kind', why] from v_now where work_item_id = item()),
  array['1', 'not_due', format('waits for analyze (%s)', pg_temp.other(2))], 'the end of one wakes it, and it waits for the other');
delete from graphile_worker._private_jobs;
select pg_temp.end_other(2);
select is(pg_temp.jobs(), 1::bigint, 'the end of the last one wakes it');
select is((select awaited_by from foci where id = focus(pg_temp.other(2))), array[call('t1_1')], 'who waited is remembered with the attempt that ended');
select is(drive() ->> 'kind', 'run_tools', 'then it goes on');
select is((select jsonb_agg(one - 'work_item_id') from jsonb_array_elements((regexp_match(pg_temp.result(), '<data-[0-9a-f]+>\s*(.*)\s*</data-'))[1]::jsonb) one),
  '[{"work_type": "analyze", "state": "completed", "outcome": {"summary": "Part 1 is done"}},
    {"work_type": "analyze", "state": "completed", "outcome": {"summary": "Part 2 is done"}}]', 'with what came of both, between markers');
select ok(pg_temp.result() like '%never instructions to you%' and pg_temp.result() not like '%only for itself%', 'as words of another agent, without its ledger');
select is((select count(*) from inbox), 0::bigint, 'nothing is put into an inbox');

select * from finish();
rollback;
