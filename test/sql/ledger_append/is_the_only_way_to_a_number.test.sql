-- Only ledger_append gives an entry its number, whoever inserts a row.
begin;
select plan(8);

select submit('Look');
select ledger_append(item(), 'note', 'one');
create function pg_temp.put(p_seq integer, p_item uuid default null) returns text language sql as $$
  select format('insert into work_ledger (work_item_id, seq, entry_type, content) values (%L, %s, ''note'', ''squatted'')', coalesce(p_item, item()), p_seq)
$$;

select throws_ok(pg_temp.put(2), 'WL002', format('entry 2 of work item %s does not come next: its ledger has 1', item()), 'the next number is nobody''s but the counter''s, not even the owner''s of the tables');
select throws_ok(pg_temp.put(1000), 'WL002', null, 'a later number is not taken by an insert');
select throws_ok(pg_temp.put(0), 'WL002', null, 'a number before the first is not taken by an insert');
select throws_ok(pg_temp.put(-5), 'WL002', null, 'a negative number is not taken by an insert');
select throws_ok(pg_temp.put(1), '23505', null, 'a number that is taken is not taken again');
select is((ledger_append(item(), 'note', 'two')).seq, 2, 'ledger_append goes on with the next number');

-- As a dump brings it: the item with its counter, then its entries, or the other way round.
create temporary table kept as select * from work_ledger;
alter table work_ledger disable trigger refuse_change;
delete from work_ledger;
select lives_ok('insert into work_ledger select * from kept order by seq desc', 'a dump restores entries in any order');
select lives_ok(pg_temp.put(3, gen_random_uuid()), 'a dump restores entries before their item');

select * from finish();
rollback;
