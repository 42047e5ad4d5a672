-- Whatever the owner of the tables changes in a ledger by hand is found: words, what is known of an entry, order, gaps, additions.
begin;
select plan(12);

select submit();
select from ledger_append_batch(item(), '[{"entry_type": "plan", "content": "Look"}, {"entry_type": "finding", "content": "No index", "data": {"a": 1}}]');
select ledger_append(item(), 'decision', 'Create one'), ledger_append(item(), 'note', 'Done');
create temporary table other as select (work_submit('analyze', 'Other')).id;
select from ledger_append((select id from other), 'finding', 'Elsewhere');
select is_empty($$ select * from ledger_verify(item()) $$, 'as it was written, nothing is found');

select is(found('work_ledger', $$ update work_ledger set content = 'No table' where work_item_id = item() and seq = 2 $$),
  'entry 2 is not as it was written', 'changed words');
select is(found('work_ledger', $$ update work_ledger set data = '{"a": 2}' where work_item_id = item() and seq = 2 $$),
  'entry 2 is not as it was written', 'changed data');
select is(found('work_ledger', $$ update work_ledger set created_at = created_at - interval '1 microsecond' where work_item_id = item() and seq = 3 $$),
  'entry 3 is not as it was written', 'a changed time');
select is(found('work_ledger', $$ delete from work_ledger where work_item_id = item() and seq between 2 and 3 $$),
  'entry 2 to 3 missing', 'entries taken out of the middle');
select is(found('work_ledger', $$ delete from work_ledger where work_item_id = item() and seq = 2; update work_ledger set seq = seq - 1 where work_item_id = item() and seq > 2 $$),
  'entry 2 is not as it was written; entry 3 is not as it was written; entry 4 missing, and all entries after it: the ledger had 4 entries',
  'entries taken out, and the others renumbered');
select is(found('work_ledger', $$ update work_ledger set seq = case seq when 2 then 300 else 200 end where work_item_id = item() and seq in (2, 3);
    update work_ledger set seq = seq / 100 where work_item_id = item() and seq > 100 $$),
  'entry 2 is not as it was written; entry 3 is not as it was written; entry 4 is not as it was written', 'entries in another order');
select is(found('work_ledger', $$ delete from work_ledger where work_item_id = item() and seq = 4 $$),
  'entry 4 missing, and all entries after it: the ledger had 4 entries', 'a tail that was cut, with the counter as it was');
select is(found('work_ledger', $$ update work_ledger set seq = seq + 1 where work_item_id = item() and seq = 4;
    insert into work_ledger (work_item_id, seq, entry_type, content) values (item(), 4, 'finding', 'Forged') $$),
  'entry 4 is not as it was written; entry 5 is not as it was written', 'an entry put in');
select is(found('work_ledger', $$ update work_ledger a set (content, link) = (select b.content, b.link from work_ledger b where b.work_item_id = (select id from other))
    where work_item_id = item() and seq = 1 $$),
  'entry 1 is not as it was written; entry 2 is not as it was written', 'an entry of another item in its place, with its link');
select is(found('work_ledger', $$ update work_ledger set content = 'No table', link = null where work_item_id = item() and seq = 2 $$),
  'entry 2 is not in the chain; entry 3 is not as it was written', 'a link taken away');
select is(found('work_ledger', $$ update work_ledger set content = 'No table', erased_hash = _entry_hash(_salt(item()), work_ledger) where work_item_id = item() and seq = 2 $$),
  'work_ledger rows say that they were erased, but the item was not: 1', 'an erasure that was none');

select * from finish();
rollback;
