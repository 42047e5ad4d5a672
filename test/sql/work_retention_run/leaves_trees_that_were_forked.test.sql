-- A tree whose turns a fork shares is not due while the fork has its words, so that a worker that runs until nothing is due comes to its end.
begin;
select plan(5);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent('{"tools": ["look"]}', '{"awareness": {"enabled": false}}');
select submit('Fix it');
select play('[[["look", "saw a"]], ["Done."]]');
create temporary table source as select item() as id;
select take(work_fork((select turn_id from request where n = 1)));
select from retention_policy_save('1 day');
select later('2 days');

select is(work_retention_run(true) -> 'due', '[]'::jsonb, 'nothing is due while the fork is at work');
select is((work_retention_run() ->> 'is_done')::boolean, true, 'a run has nothing to do, instead of the same tree again');
select is((select erased_at from work_items where id = (select id from source)), null, 'the source is there');
select play('[["Done."]]');
select later('2 days');
select is((select array_agg(d ->> 'root_id') from jsonb_array_elements(work_retention_run(true) -> 'due') d), array[item()::text], 'the fork goes first');
create function pg_temp.run() returns void language plpgsql as $$ begin
  for v_n in 1..50 loop
    exit when (work_retention_run() ->> 'is_done')::boolean;
  end loop;
end $$;
select pg_temp.run();
select is((select count(*) from work_items where erased_at is not null), 2::bigint, 'then its source');

select * from finish();
rollback;
