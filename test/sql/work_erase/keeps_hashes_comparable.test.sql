-- What is recorded has the same hashes before and after erasing, so that the chain stays valid; the salt is gone.
begin;
select plan(12);

select agent('{"tools": ["look"]}');
select submit('Task');
create temporary table child as select id from work_submit('analyze', 'Part', p_parent_id => item());
select from child, ledger_append(child.id, 'finding', 'A part of it');
select from child, work_cancel(child.id);
select play('[[["look", {"at": "a"}, "seen"], ["finding", "yes"]], ["done"]]');

create function pg_temp.hashes() returns table (place text, hash bytea) language sql as $$
  select 'entry ' || l.id, _entry_hash(_salt(l.work_item_id), l) from work_ledger l
  union all
  select 'message ' || m.id, _message_hash(_salt(t.work_item_id), m) from messages m join turns t on t.id = m.turn_id
  union all
  select 'call ' || k.id, _call_hash(_salt(k.work_item_id), k) from tool_calls k
  union all
  select 'turn ' || t.id, _turn_hash(_salt(t.work_item_id), t, 100, 100) from turns t
  union all
  select 'item ' || w.id, _item_hash(_salt(w.id), w) from work_items w
$$;
create temporary table before as select * from pg_temp.hashes();
create temporary table salt as select _salt(item()) as salt;
select cmp_ok((select count(*) from before where hash is not null), '>', 6::bigint, 'there are entries, messages, calls, turns and items');
select isnt(_sized('a') || _sized('b'), _sized('ab') || _sized(''), 'a hash knows where a text ends');
select isnt(_sized(null), _sized(''), 'and nothing from an empty text');
select isnt(_message_hash(gen_random_uuid(), m), _message_hash(gen_random_uuid(), m), 'and differs by salt') from messages m limit 1;

select from work_erase(item());
select is(_salt(item()), null, 'with the last word the salt is gone');
select results_eq('select * from pg_temp.hashes() order by 1', 'select * from before order by 1', 'every hash is as it was');
select is_empty($$ select from work_ledger where erased_hash is null $$, 'entries keep theirs');
select is_empty($$ select from messages m join turns t on t.id = m.turn_id where t.work_item_id = item() and m.erased_hash is null $$, 'so do messages');
select is_empty($$ select from tool_calls where work_item_id = item() and erased_hash is null $$, 'and calls');
select is_empty($$ select from turns where work_item_id = item() and erased_hash is null $$, 'and turns');
select is_empty($$ select * from ledger_verify(item()) $$, 'the chain is valid');
select is_empty($$ select from work_erase(item()) where kind = 'table' $$, 'and erasing again finds nothing');

select * from finish();
rollback;
