begin;
select plan(4);

select from faculty_save('{"name": "worker", "accepts": ["analyze"]}');
create temporary table item as select * from work_submit('analyze', 'Mend it');
select throws_ok($$ select context_compact(gen_random_uuid()) $$, 'WL001', null, 'a work item that is not there');
select throws_ok($$ select context_compact((select id from item)) $$, 'WL008', null, 'one that nobody works on');
select from focus_claim((select id from item), 'w');
select throws_ok($$ select context_compact((select id from item), repeat('x', 5000)) $$, 'WL002', null, 'a book on what to look at');
select from work_cancel((select id from item));
select throws_ok($$ select context_compact((select id from item)) $$, 'WL003', null, 'one that is over');

select * from finish();
rollback;
