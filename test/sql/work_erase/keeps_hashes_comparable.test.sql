-- A hash over the salted words is the same before and after erasing, so that a chain of them stays valid; the salt is gone.
begin;
select plan(9);

select agent('{"tools": ["look"]}');
select submit('Task');
select play('[[["look", {"at": "a"}, "seen"], ["finding", "yes"]], ["done"]]');

-- As a chain would take it.
create function pg_temp.links() returns table (place text, hash bytea) language sql as $$
  select 'entry ' || l.seq, coalesce(l.erased_hash, _salted_hash(_salt(item()), l.content, l.data::text, l.keep::text)) from work_ledger l where l.work_item_id = item()
  union all
  select 'message ' || m.id, coalesce(m.erased_hash, _salted_hash(_salt(item()), m.content::text, m.sent_content::text))
    from messages m join turns t on t.id = m.turn_id where t.work_item_id = item()
  union all
  select 'call ' || k.id, coalesce(k.erased_hash, _salted_hash(_salt(item()), k.input::text, k.rewritten_input::text, k.result::text, k.value::text))
    from tool_calls k where k.work_item_id = item()
  union all
  select 'item', coalesce(w.erased_hash, _salted_hash(_salt(item()), w.description, w.params::text, w.outcome_data::text)) from work_items w where w.id = item()
$$;
create temporary table before as select * from pg_temp.links();
create temporary table salt as select _salt(item()) as salt;
select cmp_ok((select count(*) from before), '>', 5::bigint, 'there are entries, messages, calls and the item');
select isnt(_salted_hash((select salt from salt), 'a', 'b'), _salted_hash((select salt from salt), 'ab'), 'a hash knows where a text ends');
select isnt(_salted_hash((select salt from salt), null), _salted_hash((select salt from salt), ''), 'and nothing from an empty text');
select isnt(_salted_hash(gen_random_uuid(), 'yes'), _salted_hash(gen_random_uuid(), 'yes'), 'and differs by salt');

select from work_erase(item());
select is_empty($$ select * from content_salts $$, 'with the last word the salt is gone');
select results_eq('select * from pg_temp.links() order by 1', 'select * from before order by 1', 'every hash is as it was');
select is_empty($$ select from work_ledger where erased_hash is null $$, 'entries keep theirs');
select is_empty($$ select from messages m join turns t on t.id = m.turn_id where t.work_item_id = item() and m.erased_hash is null $$, 'so do messages');
select is_empty($$ select from tool_calls where work_item_id = item() and erased_hash is null $$, 'and calls');

select * from finish();
rollback;
