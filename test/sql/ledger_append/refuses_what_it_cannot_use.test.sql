-- An entry has a type that is known, content that says something and an item that is there.
begin;
select plan(8);

select submit();

select throws_ok($$ select ledger_append(item(), 'thought', 'x') $$, 'WL002', null, 'an unknown type is refused');
select throws_ok($$ select ledger_append(item(), 'Finding', 'x') $$, 'WL002', null, 'a type in the wrong case is refused');
select throws_ok($$ select ledger_append(item(), null, 'x') $$, 'WL002', null, 'an entry without a type is refused');
select throws_ok($$ select ledger_append(item(), 'note', E' \n\t ') $$, 'WL002', null, 'blank content is refused');
select throws_ok($$ select ledger_append(item(), 'note', repeat('x', 2000000)) $$, 'WL002', null, 'content of 2 MB is refused');
select throws_ok($$ select ledger_append('00000000-0000-7000-8000-000000000000', 'note', 'x') $$, 'WL001', null, 'an item that is not there is an error');
select lives_ok($$ select ledger_append(item(), 'note', repeat('x', 16384)) $$, 'content of 16 KiB is taken');
select is((select ledger_count from item), 1, 'what was refused took no number');

select * from finish();
rollback;
