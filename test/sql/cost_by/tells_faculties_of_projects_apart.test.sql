-- Faculties of one name in two projects are two: cost_by() and metrics tell them apart, by name where a name is enough.
begin;
select plan(8);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent('{"model": "m"}');
select faculty_save(jsonb_build_object('name', 'worker', 'project', p, 'accepts', '["analyze"]'::jsonb, 'engage', '{"model": "m"}'::jsonb)) from unnest('{shop,bank}'::text[]) p;
select faculty_save('{"name": "aide", "project": "shop", "accepts": ["part"], "engage": {"model": "m"}}');
create function pg_temp.done(p_type text, p_project text) returns void language plpgsql as $$
begin
  perform take((work_submit(p_type, 'Work', p_project => p_project)).id);
  perform play('[[["note", "Begun"]], ["Done."]]', p_more => '{"usage": {"input_tokens": 1000, "output_tokens": 10}}');
end
$$;
select pg_temp.done('analyze', 'shop'), pg_temp.done('part', 'shop');
select bag_eq($$ select key, says, requests from cost_by('faculty') $$, $$ values ('worker', 'shop', 2::bigint), ('aide', 'shop', 2) $$,
              'a name is enough while no other faculty has it; whose it is is said beside');
select pg_temp.done('analyze', 'bank'), pg_temp.done('analyze', 'bank'), pg_temp.done('analyze', null);
select bag_eq($$ select key, says, requests from cost_by('faculty') $$,
              $$ values ('worker', null, 2::bigint), ('worker@shop', 'shop', 2), ('worker@bank', 'bank', 4), ('aide', 'shop', 2) $$,
              'faculties of one name are told apart by their projects, and that of the ledger has none');
select bag_eq($$ select key, requests from cost_by('faculty', p_project => 'bank') $$, $$ values ('worker', 2::bigint), ('worker@bank', 4) $$, 'in one project, too');
select from project_rename('shop', 'store');
select ok(exists (select from cost_by('faculty') where (key, says) = ('worker@store', 'store')), 'by the name that the project has today');
select is((select string_agg(distinct concat_ws('@', faculty, faculty_project), ' ') from v_cost_turns), 'aide@store worker worker@bank worker@store', 'so does each request');

create temporary table counted as select metric, labels, sum(value * times) as value from work_metrics('2026-11-20', '2026-11-21') group by 1, 2;
select bag_eq($$ select labels, value from counted where metric = 'work.ledger.entries' $$, $$ values
  ('{"faculty": "worker", "entry_type": "note"}'::jsonb, 1::double precision), ('{"faculty": "worker", "faculty_project": "store", "entry_type": "note"}', 1),
  ('{"faculty": "worker", "faculty_project": "bank", "entry_type": "note"}', 2), ('{"faculty": "aide", "faculty_project": "store", "entry_type": "note"}', 1) $$,
  'metrics have its project beside a name');
select is((select count(distinct labels) from counted where metric = 'work.engage.iterations'), 4::bigint, 'of attempts');
select is((select count(distinct labels) from counted where metric = 'work.engage.parallel_tools'), 4::bigint, 'and of requests');

select * from finish();
rollback;
