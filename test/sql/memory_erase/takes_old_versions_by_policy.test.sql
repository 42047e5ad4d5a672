-- Versions that no work wrote lose their words by the policy for all work, when they have been history for that long.
begin;
select plan(9);

create function pg_temp.at(p_days integer) returns void language sql as $$
  select set_config('work_ledger.now', (clock_timestamp() + make_interval(days => p_days))::text, true)
$$;
create function pg_temp.left() returns text language sql as $$
  select string_agg(path || ' ' || version, ', ' order by path, version) from memory_versions where content <> '[erased]'
$$;
create function pg_temp.run() returns bigint language sql as $$ select (work_retention_run() ->> 'rows')::bigint $$;
select memory_write('/memories/a.md', 'one', 'shop', p_why => 'private'), memory_write('/memories/p.md', 'one', 'shop'), memory_pin('/memories/p.md', true, 'shop');
select pg_temp.at(50);
select memory_write('/memories/a.md', 'two', 'shop', 1), memory_write('/memories/p.md', 'two', 'shop', 1), memory_write('/memories/p.md', 'three', 'shop', 2);
select pg_temp.at(100);
select memory_write('/memories/a.md', 'three', 'shop', 2);
select pg_temp.run();
select is(pg_temp.left(), '/memories/a.md 1, /memories/a.md 2, /memories/a.md 3, /memories/p.md 1, /memories/p.md 2, /memories/p.md 3', 'without a policy all stays');
select from retention_policy_save('40 days', 'failed');
select from retention_policy_save('40 days', p_keep => 'ledger');
select pg_temp.run();
select is(pg_temp.left(), '/memories/a.md 1, /memories/a.md 2, /memories/a.md 3, /memories/p.md 1, /memories/p.md 2, /memories/p.md 3', 'a policy for some work, or that keeps something, is of work');
select from retention_policy_save('60 days');
select pg_temp.run();
select is(pg_temp.left(), '/memories/a.md 1, /memories/a.md 2, /memories/a.md 3, /memories/p.md 1, /memories/p.md 2, /memories/p.md 3', 'age counts since another version followed');
select from retention_policy_save('40 days');
select is(pg_temp.run(), 2::bigint, 'what was followed longer ago goes');
select is(pg_temp.left(), '/memories/a.md 2, /memories/a.md 3, /memories/p.md 1, /memories/p.md 3', 'not what was followed lately, what is pinned, and what a note says');
select is((select count(*) from memory_versions where why is not null or salt is not null and content = '[erased]'), 0::bigint, 'with its reason and its salt');
select is(work_retention_run() ->> 'is_done', 'true', 'once');
select alike(_memory_pinned('shop'), '%one%', 'what is pinned is told as before');
select is_empty($$ select * from ledger_verify() $$, 'the chain holds');

select * from finish();
rollback;
