-- A child ends with whatever it found, in whatever script, and its parent is told as much of it as a message holds, and that it is not all.
begin;
select plan(4);

select agent();
select submit('Lead'), drive();
create temporary table child as select n, (spawn_child_work(item(), 'analyze', 'Part ' || n, p_lease => lease())).id from generate_series(1, 2) n;
select drive(id) from child;
select lives_ok($$ select work_complete(id, repeat('語', 3000), p_lease => lease(id), p_result => to_jsonb(repeat('語', 25000))) from child where n = 1 $$,
  'words of three bytes a letter');
select lives_ok($$ select work_complete(id, 'Done', p_lease => lease(id), p_result => to_jsonb(repeat('🙂', 25000))) from child where n = 2 $$, 'and of four');
select is((select array_agg(state order by n) from child join work_items w using (id)), '{completed,completed}', 'have ended');
select is((select count(*) from inbox where work_item_id = item() and content ~ 'characters left out here'), 2::bigint, 'the parent is told, and that something is left out');

select * from finish();
rollback;
