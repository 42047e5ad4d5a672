-- Waiting for children is no stall; looking at them is told, and stops nothing while one of them runs.
begin;
select plan(6);

select agent('{"ledger_nudge_interval": 0, "stall_limit": 5}', '{"awareness": {"enabled": false}}');
select submit('Do it');
create temporary table child as select (work_submit('part', 'A part', p_parent_id => item())).id;
-- Iterations with this one call to the child; how each ended.
create function pg_temp.times(p_times integer, p_tool text, p_more jsonb default '{}') returns text[] language sql as $$
  select array_agg(play(jsonb_build_array(jsonb_build_array(jsonb_build_array(p_tool, jsonb_build_object('work_item_ids', array[child.id]) || p_more)))) order by n) from child, generate_series(1, p_times) n $$;
-- How often each request was told to have been made in a row, or '-'.
create function pg_temp.told() returns text[] language sql as $$
  select array_agg(coalesce(left(substring(m.content -> 0 ->> 'text' from '\d+ times in a row'), 1), '-') order by r.n)
    from request r left join messages m on m.turn_id = r.turn_id and m.metadata ->> 'kind' = 'stall' where r.item = item() $$;

select is(pg_temp.times(7, 'check_child_work'), array_fill('continued'::text, array[7]), 'who looks at children that run goes on');
select is(pg_temp.told(), array['-', '-', '-', '3', '4', '5', '6'], 'who looks at children is told, though each look has other markers');
select ok((select bool_and(content -> 0 ->> 'text' like '%To wait for children, call await_child_work%') from messages where metadata ->> 'kind' = 'stall'), 'who looks at children is told what to do instead');
select is(pg_temp.times(6, 'await_child_work', '{"timeout_seconds": 0}'), array_fill('continued'::text, array[6]), 'who waits again and again goes on');
select is((pg_temp.told())[9:], array_fill('-'::text, array[5]), 'who waits is told nothing');
select work_cancel(id) from child;
select is(pg_temp.times(5, 'check_child_work'), array['continued', 'continued', 'continued', 'continued', 'paused'], 'who looks at a child that is over does not go on for ever');

select * from finish();
rollback;
