begin;
select plan(4);

select agent();
select submit('Mend it');
select throws_ok($$ select context_compact(gen_random_uuid()) $$, 'WL001', null, 'a work item that is not there');
select throws_ok($$ select context_compact(item()) $$, 'WL008', null, 'one that nobody works on');
select from focus_claim(item(), 'w');
select throws_ok($$ select context_compact(item(), repeat('x', 5000)) $$, 'WL002', null, 'a book on what to look at');
select from work_cancel(item());
select throws_ok($$ select context_compact(item()) $$, 'WL003', null, 'one that is over');

select * from finish();
rollback;
