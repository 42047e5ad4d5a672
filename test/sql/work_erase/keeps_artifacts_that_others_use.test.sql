-- Artifacts go with the last work that uses them.
begin;
select plan(6);

select agent('{"tools": ["look"], "max_result_chars": 2000}');
create function pg_temp.work(p_result text) returns uuid language sql as $$
  select submit('Look');
  select play(jsonb_build_array(jsonb_build_array(jsonb_build_array('look', p_result)), jsonb_build_array('done')));
  select item();
$$;
create temporary table one as select pg_temp.work(repeat('shared ', 1000)) as id;
create temporary table two as select pg_temp.work(repeat('shared ', 1000)) as id;
create temporary table three as select pg_temp.work(repeat('own ', 1000)) as id;
select _artifact_store((select id from one), 'named by a handle alone'), _artifact_store((select id from two), 'named by a handle alone');
select is((select count(*) from artifacts), 3::bigint, 'the same output is stored once');
select is((select count(*) from artifact_uses), 5::bigint, 'and each use noted');
select is((select row_count from work_erase((select id from three)) where name = 'artifacts'), 1::bigint, 'what only one uses goes with it');
select is_empty($$ select from work_erase((select id from one), p_is_dry_run => true) where name = 'artifacts' $$, 'what another uses stays');
select from work_erase((select id from one));
select is((select array_agg(left(content, 6) order by content) from artifacts), '{"named ",shared}', 'until the last one goes');
select from work_erase((select id from two));
select is_empty($$ select * from artifacts $$, 'with which it goes');

select * from finish();
rollback;
