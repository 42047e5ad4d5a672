-- Only work that is under way is compacted, with instructions of a few sentences.
begin;
select plan(4);

select agent();
select submit('Fix it');
select throws_ok($$ select context_compact(gen_random_uuid()) $$, 'WL001', null, 'a work item that is not there is refused');
select throws_ok($$ select context_compact(item()) $$, 'WL008', null, 'work that nobody drives is refused');
select from focus_claim(item(), 'w');
select throws_ok($$ select context_compact(item(), repeat('x', 5000)) $$, 'WL002', null, 'instructions as long as a book are refused');
select from work_cancel(item());
select throws_ok($$ select context_compact(item()) $$, 'WL003', null, 'work that is over is refused');

select * from finish();
rollback;
