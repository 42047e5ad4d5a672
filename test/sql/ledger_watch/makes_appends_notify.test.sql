-- Appends to a watched item notify, for as long as the watch lasts.
begin;
select plan(3);

select submit();

select from ledger_append(item(), 'note', 'unwatched');
select from ledger_watch(item());
select from ledger_append(item(), 'note', 'watched');
select results_eq($$ select content, is_watched from work_ledger order by seq $$, $$ values ('unwatched', false), ('watched', true) $$,
  'only appends to a watched item send a notification');
select ok(ledger_watch(item(), 999999) <= now() + interval '2 hours', 'a watch ends within an hour');
select throws_ok($$ select ledger_watch('00000000-0000-7000-8000-000000000000') $$, 'WL001', null, 'a watch of an item that is not there is refused');

select * from finish();
rollback;
