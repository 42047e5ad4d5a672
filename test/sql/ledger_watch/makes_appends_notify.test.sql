begin;
select plan(3);

create temporary table item as select * from work_submit('analyze', 'Find why the nightly import is slow');

select from ledger_append((select id from item), 'note', 'unwatched');
select from ledger_watch((select id from item));
select from ledger_append((select id from item), 'note', 'watched');
select results_eq($$ select content, is_watched from work_ledger order by seq $$, $$ values ('unwatched', false), ('watched', true) $$,
  'only appends to a watched item send a notification');
select ok(ledger_watch((select id from item), 999999) <= now() + interval '2 hours', 'a watch ends within an hour');
select throws_ok($$ select ledger_watch('00000000-0000-7000-8000-000000000000') $$, 'WL001', null, 'there must be an item');

select * from finish();
rollback;
