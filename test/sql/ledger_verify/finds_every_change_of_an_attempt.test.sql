-- How attempts ended, and what is known of an item besides its task and outcome, is sealed with the item's end.
begin;
select plan(12);

select agent('{"tools": ["look"]}', '{"recover": {"max_attempts": 2}}');
select submit();
select drive();
select give_up();
select later('1 hour');
select drive();
select give_up();
select is((select format('%s %s', state, attempts) from item), 'dead 2', 'an item that failed twice');
select is_empty($$ select * from ledger_verify(item()) $$, 'as it was, nothing is found');
create temporary table sealed as select 'item is not as it was sealed, or the ledger is not as it was then' as text;

select is(found('foci', format('update foci set %s where attempt = 1', c.change)), (select text from sealed), c.what)
  from (values ('an outcome', $$outcome = 'completed'$$), ('an error', $$error = '{"message": "No reason"}'$$), ('who worked', $$faculty = 'another'$$),
    ('how long', $$iteration = 7$$)) as c(what, change);
select is(found('work_items', format('update work_items set %s where id = item()', c.change)), (select text from sealed), c.what)
  from (values ('why it is in its state', $$state_reason = 'No reason'$$), ('for whom it was', $$faculty = 'another'$$), ('since when', $$started_at = started_at - interval '1 second'$$),
    ('how often', 'attempts = 1')) as c(what, change);
select is(found('work_items', 'update work_items set erased_at = now() where id = item()'), 'item says that it was erased, but it was not', 'an erasure that never was');
set constraints all deferred;
select from work_erase(item());
select is(found('work_items', $$ update work_items set attempts = 1 where id = item() $$), (select text from sealed), 'of erased work what is no word');

select * from finish();
rollback;
