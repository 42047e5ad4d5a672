-- Work that is over is not waited for, however it ended; what cannot be waited for is refused.
begin;
select plan(11);

select agent();
create temporary table other as
  select n, (work_submit('analyze', 'Work ' || n)).id from generate_series(1, 100) n;
create function pg_temp.ids(p_ns integer[]) returns uuid[] language sql as $$ select array_agg(id order by n) from other where n = any (p_ns) $$;
select work_complete(id, 'Result ' || n) from other where n > 3;
select work_cancel((pg_temp.ids('{1}'))[1], 'not wanted'), work_fail((pg_temp.ids('{2}'))[1], 'it cannot be done');
select submit('Wait');

select is(jsonb_array_length(wait_for(item(), (select array_agg(id) from other where n <> 3))), 99, 'a hundred items are one wait');
select is(wait_for(item(), (select array_agg(id) from other)), null, 'which lasts as long as one of them');
select is(jsonb_path_query_array(wait_for(item(), pg_temp.ids('{1,2}')), '$[*].state'), '["cancelled", "failed"]', 'work that came to nothing is over, too');
select is(jsonb_array_length(wait_for(item(), pg_temp.ids('{5}') || pg_temp.ids('{5}'))), 1, 'twice the same is once');
select work_erase((pg_temp.ids('{6}'))[1]);
select is(wait_for(item(), pg_temp.ids('{6}')) #>> '{0,state}', 'completed', 'so is work that was erased');
select throws_ok(format('select wait_for(%L, %L)', item(), array[gen_random_uuid()]), 'WL001', null, 'what is not there is not found');
select throws_ok(format('select wait_for(%L, null)', item()), 'WL002', null, 'something has to be waited for');
select throws_ok(format('select wait_for(%L, ''{}'', %L)', item(), 'infinity'), 'WL002', null, 'not for ever');

select drive(), answer(format('[["wait_for", {"work_item_ids": ["x"]}], ["wait_for", {}], ["wait_for", {"until": "soon"}], ["wait_for", {"until": "2026-02-30"}], ["wait_for", {"work_item_ids": ["%s"]}], ["wait_for", {"timeout_seconds": -1}]]',
  (pg_temp.ids('{4}'))[1])::jsonb), run();
select is((select array_agg(status || ' ' || substring(result #>> '{}' from '\((WL\d+)\)') order by ordinal) from tool_calls where work_item_id = item() and ordinal <> 4),
  '{failed WL002,failed WL002,failed WL002,failed WL002,failed WL002}', 'an agent is told what is wrong with its call');
select ok((select result #>> '{}' like '%Result 4%' from tool_calls where id = call('t1_5')), 'and gets what is there at once');
select is(iteration_finish(item(), lease()) ->> 'kind', 'continued', 'nothing waits');

select * from finish();
rollback;
