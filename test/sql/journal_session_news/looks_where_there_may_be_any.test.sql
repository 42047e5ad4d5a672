-- A session asks after each tool: only where others did something since it was told all, a digest is made.
begin;
select plan(12);

set local work_ledger.now = '2026-11-20 12:00:00+00';
create temporary table mine as select id from journal_session_open('alpha', 'Alpha works', '/shop', 'acme');
create temporary table other as select id from work_submit('till', 'Mend the till', p_project => 'acme');
create temporary table far as select id from work_submit('bank', 'Mend the bank', p_project => 'bank');
create function pg_temp.news() returns text language sql as $$ select journal_session_news((select id from mine)) $$;
create function pg_temp.told() returns timestamptz language sql as $$ select told_at from fences where work_item_id = (select id from mine) $$;
select from ledger_append((select id from other), 'finding', 'The drawer sticks');
select from pg_temp.news();
select is(pg_temp.told(), null, 'who was told something may not have been told all');
select later('5 minutes');
select is(pg_temp.news(), null, 'nothing is left');
select is(pg_temp.told(), _now(), 'which is noted');
create temporary table said as select pg_temp.told() as at;

select later('5 minutes');
select from ledger_append((select id from mine), 'finding', 'My own');
select from ledger_append((select id from other), 'note', 'A note');
select from ledger_append((select id from far), 'finding', 'Far away');
select is(pg_temp.news(), null, 'what it records itself, notes, and other projects are no news');
select is(pg_temp.told(), (select at from said), 'nor a reason to look for any');

-- Of a transaction that was open when it was told.
set local work_ledger.now = '2026-11-20 12:04:30+00';
select from ledger_append((select id from other), 'finding', 'Committed late');
select set_config('work_ledger.now', '2026-11-20 12:11:00+00', true);
select alike(pg_temp.news(), '%- Committed late%', 'what is committed within a minute is told');
select is(pg_temp.news(), null, 'once');
select is(pg_temp.told(), _now(), 'and then all is told');

select later('5 minutes');
select from ledger_retract((select id from other), 3, 'It was not');
select alike(pg_temp.news(), '%till entry 3, "Committed late": It was not%', 'what is taken back is news');
select later('5 minutes');
select from pg_temp.news();
select later('5 minutes');
select from work_complete((select id from other), 'Mended');
select alike(pg_temp.news(), '%Outcome: Mended%', 'and so is an end');
select later('5 minutes');
select from pg_temp.news();
select later('5 minutes');
select is(pg_temp.news(), null, 'then it is quiet');

select from work_complete((select id from mine), 'Done');
select throws_ok($$ select pg_temp.news() $$, 'WL003', null, 'who is over is told so where nothing is new, too');

select * from finish();
rollback;
