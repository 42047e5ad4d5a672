-- How long work is kept is said by the faculty that worked on it last, not by the one that began it.
begin;
select plan(2);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent();
select submit('Fix it');
select drive(), give_up(), later('1 hour');
select faculty_save('{"name": "worker", "accepts": []}'), faculty_save('{"name": "keeper", "accepts": ["analyze"]}');
select play('[["Done."]]');
select from retention_policy_save('1 day', p_faculty => 'worker');
select from retention_policy_save('100 days', p_faculty => 'keeper');
select later('2 days');
select is(work_retention_run(true) -> 'due', '[]'::jsonb, 'who began it has nothing to say');
select later('100 days');
select is((select count(*) from jsonb_array_elements(work_retention_run(true) -> 'due')), 1::bigint, 'who ended it has');

select * from finish();
rollback;
