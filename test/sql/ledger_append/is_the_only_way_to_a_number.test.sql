begin;
select plan(8);

select submit('Look');
select ledger_append(item(), 'note', 'one');
create function pg_temp.put(p_seq integer, p_item uuid default null) returns text language sql as $$
  select format('insert into work_ledger (work_item_id, seq, entry_type, content) values (%L, %s, ''note'', ''squatted'')', coalesce(p_item, item()), p_seq)
$$;

select throws_ok(pg_temp.put(2), 'WL002', format('entry 2 of work item %s does not come next: its ledger has 1', item()), 'the next number is nobody''s but the counter''s, not even the owner''s of the tables');
select throws_ok(pg_temp.put(1000), 'WL002', null, 'nor is a later one');
select throws_ok(pg_temp.put(0), 'WL002', null, 'nor one before the first');
select throws_ok(pg_temp.put(-5), 'WL002', null, 'or far before');
select throws_ok(pg_temp.put(1), '23505', null, 'and each number is taken once');
select is((ledger_append(item(), 'note', 'two')).seq, 2, 'so that the item can always write');

-- As a dump brings it: the item with its counter, then its entries, or the other way round.
create temporary table kept as select * from work_ledger;
create temporary table kept_item as select * from work_items where id = item();
alter table work_ledger disable trigger refuse_change;
delete from work_ledger;
select lives_ok('insert into work_ledger select * from kept order by seq desc', 'a dump restores, in any order');
select lives_ok(pg_temp.put(3, gen_random_uuid()), 'also where its item comes later');

select * from finish();
rollback;
