-- Who waits for a claim is woken by its release, in the order in which they began to wait; waits for claims are part of the way round.
begin;
select plan(17);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent('{"tools": ["look"]}');
create temporary table work (name text, id uuid);
create function pg_temp.id(p_name text) returns uuid language sql as $$ select id from work where name = p_name $$;
insert into work select name, (work_submit('analyze', name, p_project => 'shop')).id from unnest('{holder,first,second,other}'::text[]) name;
create function pg_temp.call(p_name text, p_input jsonb) returns text language plpgsql as $$
begin
  perform later('1 second'), drive(pg_temp.id(p_name)), answer(jsonb_build_array(jsonb_build_array('wait_for', p_input)), pg_temp.id(p_name)),
          run('[]', pg_temp.id(p_name)), iteration_finish(pg_temp.id(p_name), lease(pg_temp.id(p_name)));
  return (select case when k.status = 'waiting' then k.status else k.result #>> '{}' end from tool_calls k where k.work_item_id = pg_temp.id(p_name) order by created_at desc, id desc limit 1);
end
$$;
create function pg_temp.woken() returns text[] language sql as $$
  select array_agg(w.name order by w.name) from work w where exists (select from graphile_worker.jobs j where j.key like '%' || w.id || '%')
$$;
create function pg_temp.newest(p_name text) returns text language sql as $$ select result #>> '{}' from tool_calls where work_item_id = pg_temp.id(p_name) order by created_at desc, id desc limit 1 $$;

select is(pg_temp.call('other', '{"claim": "staging"}'), '[engine] staging is free: claim it before you continue.', 'what nobody has is not waited for');
select drive(pg_temp.id('holder')), claim_take(pg_temp.id('holder'), 'staging', p_lease => lease(pg_temp.id('holder')));
select is(pg_temp.call('first', '{"claim": "staging"}'), 'waiting', 'what somebody has is');
select is(pg_temp.call('second', '{"claim": "STAGING", "timeout_seconds": 3600}'), 'waiting', 'by several');
select results_eq($$ select w.state_reason, v.why, v.claim_of, v.claims from v_now v join work_items w on w.id = work_item_id where w.id = pg_temp.id('first') $$,
  $$ values ('waits for a claim', format('waits for the claim on staging, behind Worker/analyze (%s)', pg_temp.id('holder')), pg_temp.id('holder'), 0) $$,
  'people see it, and whose it is');
select is((select claims from v_now where work_item_id = pg_temp.id('holder')), 1, 'and that this holds something');
select ok(wait_for(pg_temp.id('holder'), '{}', null, 'staging') is not null, 'who has it does not wait for it');
select throws_ok(format('select wait_for(%L, %L)', pg_temp.id('holder'), array[pg_temp.id('second')]), 'WL008', null, 'nor for who waits for it');
delete from graphile_worker._private_jobs;
select claim_release(pg_temp.id('holder'), 'staging', lease(pg_temp.id('holder')));
set constraints all immediate;
set constraints all deferred;
select is(pg_temp.woken(), '{first,second}', 'its release wakes them');
select is((select claim_of from v_now where work_item_id = pg_temp.id('second')), pg_temp.id('first'), 'the second waits for the first now');
select is((drive(pg_temp.id('second')) ->> 'kind'), 'not_due', 'it is not the turn of the second');
select is((drive(pg_temp.id('first')) ->> 'kind'), 'run_tools', 'but of the first');
select is(pg_temp.newest('first'), '[engine] staging is free: claim it before you continue.', 'which is told to claim it');
select is(claim_take(pg_temp.id('first'), 'staging', p_lease => lease(pg_temp.id('first'))) ->> 'kind', 'claimed', 'and does');
select iteration_finish(pg_temp.id('first'), lease(pg_temp.id('first')));
delete from graphile_worker._private_jobs;
select drive(pg_temp.id('first')), work_complete(pg_temp.id('first'), 'Done', p_lease => lease(pg_temp.id('first')));
set constraints all immediate;
set constraints all deferred;
select is(drive(pg_temp.id('second')) ->> 'kind', 'run_tools', 'the end of the first is the turn of the second');
select iteration_finish(pg_temp.id('second'), lease(pg_temp.id('second'))), claim_take(pg_temp.id('holder'), 'staging', p_lease => lease(pg_temp.id('holder')));
select is(pg_temp.call('other', '{"claim": "staging", "timeout_seconds": 0}'),
  format('[engine] The wait timed out; work item %s, which holds staging or is ahead of you in waiting for it, has not ended.', pg_temp.id('holder')), 'a deadline says who has it');
select is(pg_temp.call('other', '{"claim": "staging"}'), 'waiting', 'it waits again');
select claim_release(pg_temp.id('holder'), 'staging', lease(pg_temp.id('holder')));
set constraints all immediate;
set constraints all deferred;
delete from graphile_worker._private_jobs;
select work_sweep();
select ok('other' = any (pg_temp.woken()), 'where its job was lost the sweep wakes it');

select * from finish();
rollback;
