-- Retention takes whole trees that are over and old enough, part by part, and nothing else.
begin;
select plan(17);

create function pg_temp.run_all(p_limit integer default null) returns integer language plpgsql as $$
declare
  v_runs integer := 0;
begin
  while not (work_retention_run(p_limit => p_limit) ->> 'is_done')::boolean loop
    v_runs := v_runs + 1;
  end loop;
  return v_runs;
end
$$;

set local work_ledger.now = '2026-01-01 00:00Z';
select agent('{"tools": ["look"]}');
select submit('Old');
select play('[[["look"], ["finding", "A finding"]], [["look"]], [["step", "A step"]], ["done"]]');
create temporary table old as select item() as id;
select submit('Failed');
select from work_fail(item(), 'no');
create temporary table failed as select item() as id;
select submit('Parent');
create temporary table parent as select item() as id;
create temporary table child as select id from work_submit('analyze', 'Child', p_parent_id => item());
select from work_complete(item(), 'done');
select submit('Open');

select later('40 days');
select submit('Young');
select play('[["done"]]');
select is(pg_temp.run_all(), 0, 'without a policy nothing goes');
select from retention_policy_save('30 days', 'completed');
select from retention_policy_save('300 days');
select results_eq($$ select d ->> 'root_id', d ->> 'items' from jsonb_array_elements(work_retention_run(true) -> 'due') d $$,
  $$ select id::text, '1' from old $$, 'a dry run says what is due: over, old enough, and all of its tree');

select is(work_retention_run() - 'is_done', jsonb_build_object('root_id', (select id from old), 'items', 1), 'first a tree is taken');
select is((select erased_at is not null from work_items where id = (select id from old)), true, 'it has its tombstone');
select is(work_retention_run(p_limit => 3), '{"rows": 3, "is_done": false}', 'then its rows go, a few at a time');
select is((select row(erased_at, row_count)::text from erasures), '(,3)', 'what is done is noted');
-- A worker may die here: the next one goes on.
select cmp_ok(pg_temp.run_all(3), '>', 2, 'until none is left');
select is_empty($$ select from work_ledger where content <> '[erased]' $$, 'its entries have gone');
select is((select array_agg(description order by id) from work_items), '{[erased],Failed,Parent,Child,Open,Young}', 'and nothing else');

select from work_cancel((select id from child));
select is(pg_temp.run_all(), 0, 'a tree is as old as what ended last in it');
select later('31 days');
create temporary table young as select id from work_items where description = 'Young';
select is(jsonb_array_length(work_retention_run(true) -> 'due'), 2, 'later it is due');
select from retention_policy_save('1 day', 'completed', 'worker', 'all');
select is((select array_agg(d ->> 'root_id') from jsonb_array_elements(work_retention_run(true) -> 'due') d), array[(select id::text from parent)], 'a faculty may be excepted');
select from retention_policy_save(null, 'completed', 'worker');
select from retention_policy_save('1 day', 'failed', null, 'ledger');
select from ledger_append((select id from work_items where description = 'Open'), 'note', 'Stays');
select cmp_ok(pg_temp.run_all(), '>', 3, 'all that is due goes');
select is((select array_agg(description order by id) from work_items), '{[erased],Failed,[erased],[erased],Open,[erased]}', 'of each policy what it says');
select is((select keep from erasures where work_item_id = (select id from failed)), 'ledger', 'keep = ledger: task and outcome stay');
select is_empty($$ select * from erasures where erased_at is null $$, 'nothing is left half done');
select is((select count(*) from v_retention_policies), 3::bigint, 'the policies can be looked at');

select * from finish();
rollback;
