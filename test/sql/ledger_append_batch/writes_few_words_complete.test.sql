-- A batch of a few words each is written complete, and one that brings anything else is looked at as each of its entries would be alone.
begin;
select plan(12);

select submit();
select ledger_append(item(), 'note', 'The first');
create function entries(variadic p_given jsonb[]) returns jsonb language sql return to_jsonb(p_given);

select is((select array_agg(b.seq || ' ' || b.content order by b.seq) from ledger_append_batch(item(), entries(
    '{"entry_type": "note", "content": "a"}', '{"entry_type": "finding", "content": "b"}', '{"entry_type": "note", "content": 3}')) b),
  '{2 a,3 b,4 3}', 'a batch of a few words each is appended in its order');
select is((select array_agg(seq order by id) from work_ledger where work_item_id = item()), '{1,2,3,4}', 'later entries have later ids');
select is(array(select problem from ledger_verify(item())), '{}', 'each is linked to the one before it');
select ledger_append(item(), 'note', 'The fifth');
select is(array(select problem from ledger_verify(item())), '{}', 'what is appended after it is linked to its last');
select is((select count(*)::int from ledger_search('"a" or b or 3', p_work_item_id => item())), 3, 'its words are found');

select is((select array_agg(content order by seq) from ledger_append_batch(item(), entries(
    '{"entry_type": "note", "content": "c"}', '{"entry_type": "note", "content": "key sk-ant-api03-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}'))),
  array['c', 'key ' || _redacted('sk-ant-api03-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa')], 'a secret in one of them is taken out');
select is((select array_agg(keep[1] order by seq) from ledger_append_batch(item(), entries(
    '{"entry_type": "note", "content": "d"}', '{"entry_type": "step", "content": "e", "keep": ["src/a.ts"]}'))),
  array[null, 'src/a.ts'], 'what one of them keeps is kept');
select throws_ok($$ select ledger_append_batch(item(), entries('{"entry_type": "note", "content": "f"}', '{"entry_type": "retraction", "content": "g"}')) $$,
  'WL002', null, 'what only the ledger itself may write is refused');
select throws_ok($$ select ledger_append_batch(item(), entries('{"entry_type": "note", "content": "f", "keep": ["src/a.ts"]}')) $$,
  'WL002', null, 'only a step keeps');
select is((select count(*)::int from ledger_append_batch(item(), '[]')), 0, 'an empty batch appends nothing');
select is(array(select problem from ledger_verify(item())), '{}', 'the chain goes on through all of them');

select ledger_chain_save(false);
select submit();
select is((select array_agg(link) from ledger_append_batch(item(), entries('{"entry_type": "note", "content": "a"}', '{"entry_type": "note", "content": "b"}'))),
  array[null, null]::bytea[], 'an item without a chain gets no links');

select * from finish();
rollback;
