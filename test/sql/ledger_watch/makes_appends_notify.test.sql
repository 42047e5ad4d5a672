-- Appends to a watched item notify, for as long as the watch lasts.
begin;
select plan(6);

select submit();

set local work_ledger.now = '2026-11-20 12:00:00+00';
select from ledger_append(item(), 'note', 'unwatched');
select is((select watch_notified_at from fences where work_item_id = item()), null, 'an append to an item that nobody watches sends none');
select from ledger_watch(item());
select from ledger_append(item(), 'note', 'watched');
select is((select watch_notified_at from fences where work_item_id = item()), '2026-11-20 12:00:00+00'::timestamptz, 'an append to a watched item sends a notification');
set local work_ledger.now = '2026-11-20 12:00:00.099+00';
select from ledger_append(item(), 'note', 'in the same tenth of a second');
select is((select watch_notified_at from fences where work_item_id = item()), '2026-11-20 12:00:00+00'::timestamptz, 'within 100 ms there is no second one');
set local work_ledger.now = '2026-11-20 12:00:00.1+00';
select from ledger_append(item(), 'note', 'in the next');
select is((select watch_notified_at from fences where work_item_id = item()), '2026-11-20 12:00:00.1+00'::timestamptz, 'after 100 ms there is');
select ok(ledger_watch(item(), 999999) <= _now() + interval '2 hours', 'a watch ends within an hour');
select throws_ok($$ select ledger_watch('00000000-0000-7000-8000-000000000000') $$, 'WL001', null, 'a watch of an item that is not there is refused');

select * from finish();
rollback;
