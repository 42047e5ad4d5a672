begin;
select plan(3);

select from faculty_save('{"name": "worker", "accepts": ["analyze"]}');
create temporary table item as select * from work_submit('analyze', 'Find why the nightly import is slow');
create temporary table held as
  select v.claim ->> 'lease' as lease_text, (v.claim ->> 'lease')::uuid as lease, (v.claim ->> 'focus_id')::uuid as focus_id
    from focus_claim((select id from item), 'worker-1') as v(claim);
create temporary table begun as
  select (v.stage ->> 'turn_id')::uuid as turn_id, v.stage
    from iteration_begin((select id from item), (select lease from held)) as v(stage);

select from iteration_release((select id from item), (select lease from held));
select is((select lease_token from work_items), null, 'the lease is free');
select is((focus_claim((select id from item), 'worker-2')) ->> 'kind', 'claimed', 'another worker goes on at once');
select is((select crash_count from foci), 0, 'it was no crash');

select * from finish();
rollback;
