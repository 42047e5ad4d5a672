-- What a child ended with is told once: as the result of the call that waited for it, or as a message, never as both.
begin;
select plan(4);

select agent('{"tools": ["await_child_work", "look"]}');
select submit('Lead');
select drive();
create temporary table child as select n, (spawn_child_work(item(), 'analyze', 'Part ' || n, p_lease => lease())).id from generate_series(1, 2) n;
select answer(format('[["await_child_work", {"work_item_ids": ["%s"]}]]', (select id from child where n = 1))::jsonb);
select run(), iteration_finish(item(), lease());
create function pg_temp.end_child(p_n integer) returns void language plpgsql as $$
declare
  v_child uuid := (select id from child where n = p_n);
begin
  perform drive(v_child);
  perform answer(jsonb_build_array('Part ' || p_n || ' found the index'), v_child);
  perform iteration_finish(v_child, lease(v_child));
end
$$;
create function pg_temp.times(p_what text) returns integer language sql as $$
  select (length(body::text) - length(replace(body::text, p_what, ''))) / length(p_what) from request where item = item() order by n desc limit 1
$$;
select pg_temp.end_child(1), drive(), iteration_finish(item(), lease()), drive();
select is(pg_temp.times('Part 1 found the index'), 1, 'the result of a child that was waited for is told once');
select is((select count(*) from inbox where work_item_id = item() and consumed_at is null), 0::bigint, 'nothing of it waits for the next request');
select pg_temp.end_child(2), answer('[["look"]]'), run(), iteration_finish(item(), lease()), drive();
select is(pg_temp.times('Part 2 found the index'), 1, 'the result of a child that nobody waited for is told once');
select answer('[["look"]]'), run(), iteration_finish(item(), lease()), drive();
select is(array[pg_temp.times('Part 1 found the index'), pg_temp.times('Part 2 found the index')], '{1,1}', 'no later request tells a result again');

select * from finish();
rollback;
