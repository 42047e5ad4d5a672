-- A call that submits the last child that is allowed, and is repeated after a crash, gets that child again.
begin;
select plan(3);

select agent('{"max_children": 1}');
select submit('Fix it');
select drive();
create function pg_temp.spawn(p_key text) returns uuid language sql as $$
  select id from spawn_child_work(item(), 'analyze', 'A part of it', p_lease => lease(), p_idempotency_key => p_key) $$;
create temporary table child as select pg_temp.spawn('once') as id;
select is(pg_temp.spawn('once'), (select id from child), 'the same child');
select throws_ok($$ select pg_temp.spawn('twice') $$, 'WL002', null, 'another one is refused');
select is((select count(*) from work_items where parent_id = item()), 1::bigint, 'there is one');

select * from finish();
rollback;
