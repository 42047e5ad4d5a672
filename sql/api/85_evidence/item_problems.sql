-- Checks one work item for anything that is not as it was written.

create or replace function _entry_problems(p_work_item_id uuid)
  returns table (place text, problem text)
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with chain as (
    select l as entry, l.seq, l.link, l.erased_hash, f.salt, lag(l.seq, 1, 0) over (order by l.seq) as before, lag(l.link) over (order by l.seq) as previous
      from work_ledger l
      left join fences f on f.work_item_id = l.work_item_id
     where l.work_item_id = p_work_item_id
  )
  select 'item', 'has no chain: nothing shows whether it was changed'
   where _salt(p_work_item_id) is null and not exists (select from chain where link is not null)
     and not exists (select from seals where work_item_id = p_work_item_id)
     and not exists (select from work_items where id = p_work_item_id and erased_at is not null)
  union all
  select concat_ws(' to ', 'entry ' || c.before + 1, nullif(c.seq - 1, c.before + 1)), 'missing' from chain c where c.seq > c.before + 1
  union all
  select 'entry ' || c.seq, case
      when c.link is null then 'is not in the chain'
      when c.salt is null and c.erased_hash is null then 'cannot be checked: the item''s salt is gone'
      else 'is not as it was written' end
    from chain c
   where c.seq = c.before + 1 and (_salt(p_work_item_id) is not null or exists (select from chain where link is not null))
     and c.link is distinct from _entry_link(c.previous, c.salt, c.entry)
  union all
  select 'entry ' || m.seq + 1, format('missing, and all entries after it: the ledger had %s entries', f.ledger_count)
    from (select coalesce(max(seq), 0) as seq from chain) m
    join fences f on f.work_item_id = p_work_item_id
   where f.ledger_count > m.seq
  union all
  select 'item', 'is gone, but its entries are there' from (select) one
   where exists (select from chain) and not exists (select from fences where work_item_id = p_work_item_id);
$$;

comment on function _entry_problems(uuid) is 'What is not as it was written in the ledger of a work item.';

create or replace function _seal_problems(p_work_item_id uuid)
  returns table (place text, problem text)
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with item as (
    select w.id, w.work_type, w.resolved_at, w.erased_at, f.salt from work_items w join fences f on f.work_item_id = w.id where w.id = p_work_item_id
  ), chain as (
    select s as seal, s.n, s.turn_id, s.link, s.ledger_count, coalesce('turn ' || s.turn_id, 'item') as place, lag(s.n, 1, 0) over w as before,
           lag(s.link) over w as previous, _sealed_hash((select salt from item), s) as hash,
           s.words is not null and not exists (select from erasures e where e.work_item_id = s.work_item_id)
             and s.words is distinct from _sealed_words((select salt from item), s) as has_other_words,
           (select case l.seq when s.ledger_count then l.link end
              from work_ledger l where l.work_item_id = s.work_item_id and l.seq <= s.ledger_count order by l.seq desc limit 1) as entry_link
      from seals s
     where s.work_item_id = p_work_item_id
    window w as (order by s.n)
  )
  select concat_ws(' to ', 'seal ' || c.before + 1, nullif(c.n - 1, c.before + 1)), 'missing' from chain c where c.n > c.before + 1
  union all
  select distinct on (c.place) c.place, case
      when c.turn_id is not null and not exists (select from turns t where t.id = c.turn_id) then 'missing'
      when c.ledger_count > 0 and c.entry_link is null then format('was sealed when the ledger had %s entries', c.ledger_count)
      when c.hash is null then 'cannot be checked: the item''s salt is gone'
      else 'is not as it was sealed, or the ledger is not as it was then' end
    from chain c
   where c.n = c.before + 1 and (c.has_other_words or c.link is distinct from _seal_link(c.previous, c.seal, c.hash, c.entry_link))
  union all
  select 'turn ' || u.turn_id, 'was never sealed, or has messages or calls that were not'
    from item i
    cross join lateral _turns_unsealed(i.id, null) u
   where (i.salt is not null or exists (select from chain))
     and (i.resolved_at is not null or u.turn_id <= (select c.turn_id from chain c where c.turn_id is not null order by c.n desc limit 1))
  union all
  select 'item', 'has ended, but its end was not sealed'
    from item i
   where i.resolved_at is not null and i.work_type <> 'ldg:task' and (i.salt is not null or exists (select from chain))
     and not exists (select from chain where turn_id is null);
$$;

comment on function _seal_problems(uuid) is 'What of the turns, the decisions on their calls, the attempts, the artifacts, the task and the outcome of a work item is not as it was sealed.';

create or replace function _erasure_problems(p_work_item_id uuid)
  returns table (place text, problem text)
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_e record;
  v_count bigint;
  v_keep text := (select e.keep from erasures e where e.work_item_id = p_work_item_id);
begin
  for v_e in select * from _erasable() e where e.hashed is not null order by e.n loop
    -- Dynamic: see _erase_count(). In a message that quoted erased work, what others wrote stays around the line that replaces the quote.
    execute format('select t.n from (values ($1)) as item(id), '
        'lateral (select count(*) as n from %I t where t.erased_hash is not null and (%s) and ($2 is null or (%s)) and %s) t',
        v_e.relation, replace(v_e.of_item, '$2', quote_literal('nothing')), _erasable_set(v_e.relation, v_e.becomes, v_e.hashed, 'or'),
        case when v_e.relation = 'messages' then $q$t.content::text !~ 'stood here; (some of )?it is erased'$q$ else 'true' end)
      into v_count using p_work_item_id, v_keep;
    if v_count > 0 then
      place := v_e.relation;
      problem := format('rows say that they were erased, but %s: %s', case when v_keep is null then 'the item was not' else 'have words' end, v_count);
      return next;
    end if;
  end loop;
  return query
    select 'item', case when e.work_item_id is null then 'says that it was erased, but it was not'
                        when w.erased_at is null then 'was erased, and does not say so'
                        else 'says that it was erased at another time than it was' end
      from work_items w
      left join erasures e on e.work_item_id = w.id
     -- Items are marked a moment after their tombstones.
     where w.id = p_work_item_id and (w.erased_at is not null or e.work_item_id is not null)
       and (w.erased_at between e.began_at and coalesce(e.erased_at, 'infinity')) is not true;
end
$$;

comment on function _erasure_problems(uuid) is 'Rows of a work item that claim to be erased, and are not: their hash would stand for words that are no longer those; and an item whose erasure is not that of its tombstone.';
