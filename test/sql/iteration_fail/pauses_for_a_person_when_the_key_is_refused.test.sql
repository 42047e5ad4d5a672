begin;
select plan(4);

select from faculty_save('{"name": "worker", "accepts": ["analyze"]}');
create temporary table item as select * from work_submit('analyze', 'Find why the nightly import is slow');
create temporary table held as
  select v.claim ->> 'lease' as lease_text, (v.claim ->> 'lease')::uuid as lease, (v.claim ->> 'focus_id')::uuid as focus_id
    from focus_claim((select id from item), 'worker-1') as v(claim);
create temporary table begun as
  select (v.stage ->> 'turn_id')::uuid as turn_id, v.stage
    from iteration_begin((select id from item), (select lease from held)) as v(stage);

select is((iteration_fail((select id from item), (select lease from held), '{"class": "authentication", "message": "invalid x-api-key"}')) ->> 'kind', 'paused', 'the item pauses');
select is((focus_claim((select id from item), 'w')) ->> 'kind', 'not_due', 'nobody takes it up');
select is((select state from work_resume((select id from item))), 'queued', 'until somebody resumes it');
select is((focus_claim((select id from item), 'w')) ->> 'kind', 'claimed', 'and it goes on where it was');

select * from finish();
rollback;
