-- A retry of a child is work of its own: its parent was told how the child ended, once, and hears of the retry as of other work of its project.
begin;
select plan(8);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent('{"tools": ["look", "spawn_child_work", "await_child_work"], "ledger_nudge_interval": 0}');
select submit('Lead');
create temporary table lead as select item() as id;
select play('[[["spawn_child_work", {"work_type": "analyze", "description": "A part"}]]]');
create temporary table part as select id, work_type from work_items where parent_id = (select id from lead);
select count(*) from work_cancel((select id from part), 'by mistake');
select play('[[["look"]]]');
select alike((select body::text from request order by n desc limit 1), '%Child work%is cancelled%', 'the parent was told');
create temporary table again as select w.* from work_retry((select id from part), 'Go on') w;
select results_eq($$ select parent_id, root_id = id from again $$, $$ values (null::uuid, true) $$, 'the retry has no parent');
select is((select description from again), 'A part', 'and the task of the child');
set local work_ledger.now = '2026-11-20 12:05:00+00';
select from ledger_append((select id from again), 'finding', 'It was the cache');
select from work_complete((select id from again), 'Mended');
select is((select count(*) from inbox where work_item_id = (select id from lead) and kind = 'child_result'), 1::bigint, 'its parent gets no second result');
select is((select state from work_items where id = (select id from part)), 'cancelled', 'nor is the child another one');
set local work_ledger.now = '2026-11-20 12:06:00+00';
select play('[[["look"]]]');
select alike((select body::text from request order by n desc limit 1), '%What is new elsewhere%It was the cache%', 'what it finds is news to the parent');
select alike((select body::text from request order by n desc limit 1), '%Mended%', 'so is its end');
select is((select is_ok from (select count(*) = 0 as is_ok from work_ledger_check()) v), true, 'nothing is missing');

select * from finish();
rollback;
