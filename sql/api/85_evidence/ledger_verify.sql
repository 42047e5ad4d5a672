-- Verifies that the ledger is as it was written: its entries, its turns, its own code, and heads that were kept elsewhere.

create or replace function ledger_verify(p_work_item_id uuid default null, p_heads jsonb default null)
  returns table (work_item_id uuid, place text, problem text)
  language plpgsql
  stable
  rows 10
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_items uuid[];
  v_item uuid;
  v_done integer := 0;
begin
  if p_work_item_id is not null and not exists (select from work_items w where w.id = p_work_item_id) and p_heads is null then
    perform _raise_not_found('work item', p_work_item_id);
  elsif p_heads is not null and jsonb_typeof(p_heads) not in ('array', 'object') then
    perform _raise_invalid('heads must be a list of rows of ledger_head()');
  end if;
  return query select null::uuid, c.place, c.problem from _code_problems() c;
  return query select null::uuid, m.place, m.problem from _memory_problems() m where p_work_item_id is null;
  v_items := case when p_work_item_id is not null then array[p_work_item_id] else array(
    select i.id from (select w.id from work_items w union select f.work_item_id from fences f union select l.work_item_id from work_ledger l) i order by 1) end;
  foreach v_item in array v_items loop
    return query select v_item, p.place, p.problem from _item_problems(v_item) p;
    v_done := v_done + 1;
    raise debug 'verified % of %', v_done, cardinality(v_items);
  end loop;
  return query
    select h.* from _head_problems(case jsonb_typeof(p_heads) when 'object' then jsonb_build_array(p_heads) else p_heads end) h
     where p_work_item_id is null or h.work_item_id = p_work_item_id;
exception when data_exception then
  perform _raise_invalid('heads must be a list of rows of ledger_head(): ' || sqlerrm);
end
$$;

comment on function ledger_verify(uuid, jsonb) is
  'Everything about a work item (null: all items) that is not as it was written; no row: nothing is. select * from ledger_verify(''…''). It finds changed words, times and numbers of entries, tasks, outcomes, attempts, turns, messages, calls and the decisions on them, rows taken out, put in, moved or exchanged, artifacts and configurations that do not fit their hash, and functions, triggers and views that were replaced or disabled since the installation. Whoever owns the tables could also write a new chain, or cut off the newest rows with all counters: that shows only against heads that are kept elsewhere: p_heads, rows of ledger_head() as JSON. Replaced functions could also hide it: "work-ledger verify" compares them with the package first. Returns work_item_id (null: the ledger itself), place and problem. What was erased stays valid. With client_min_messages = debug1 it says how far it has come: verified 3 of 40. Raises WL001, WL002.';

create or replace function _item_problems(p_work_item_id uuid)
  returns table (place text, problem text)
  language sql
  stable
  rows 10
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select e.* from _entry_problems(p_work_item_id) e
  union all
  select s.* from _seal_problems(p_work_item_id) s
  union all
  select r.* from _erasure_problems(p_work_item_id) r
  union all
  select c.* from _content_problems(p_work_item_id) c;
$$;

comment on function _item_problems(uuid) is 'What about a work item is not as it was written.';

create or replace function _head_problems(p_heads jsonb)
  returns table (work_item_id uuid, place text, problem text)
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select h.work_item_id, p.place, p.problem
    from jsonb_to_recordset(p_heads) as h(work_item_id uuid, ledger_count integer, ledger_link text, seal_count integer, seal_link text)
    cross join lateral (
      select 'item', 'is gone: its head was kept' where not exists (select from work_items w where w.id = h.work_item_id)
      union all
      select 'entry ' || h.ledger_count, case when l.seq is null then 'is gone: it was the head' else 'is not the one that was the head' end
        from (select) one
        left join work_ledger l on l.work_item_id = h.work_item_id and l.seq = h.ledger_count
       where h.ledger_count > 0 and encode(l.link, 'hex') is distinct from h.ledger_link
      union all
      select 'seal ' || h.seal_count, case when s.n is null then 'is gone: it was the head' else 'is not the one that was the head' end
        from (select) one
        left join seals s on s.work_item_id = h.work_item_id and s.n = h.seal_count
       where h.seal_count > 0 and encode(s.link, 'hex') is distinct from h.seal_link) as p(place, problem);
$$;

comment on function _head_problems(jsonb) is 'What does not fit heads that were kept elsewhere, as ledger_head() gave them.';

create or replace function _content_problems(p_work_item_id uuid)
  returns table (place text, problem text)
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select 'artifact ' || left(a.content_hash, 16), 'does not have the content that its hash names'
    from artifact_uses u
    join artifacts a on a.content_hash = u.content_hash
   where u.work_item_id = p_work_item_id and a.content_hash <> _content_hash(a.content)
  union all
  select 'artifact ' || left(k.artifact_hash, 16), 'is gone, but a call of the item names it'
    from turns t
    join tool_calls k on k.turn_id = t.id
   where t.work_item_id = p_work_item_id and k.artifact_hash is not null
     and not exists (select from artifact_uses u join artifacts a on a.content_hash = u.content_hash
                      where u.content_hash = k.artifact_hash and u.work_item_id = t.work_item_id)
  union all
  select 'configuration ' || left(c.content_hash, 16), 'does not have the content that its hash names'
    from (select distinct config_hash from turns where work_item_id = p_work_item_id) t
    join turn_configs c on c.content_hash = t.config_hash
   where c.content_hash <> _content_hash(c.config::text);
$$;

comment on function _content_problems(uuid) is 'Artifacts and configurations of requests that are not what the rows of a work item name by hash, and artifacts that are not there.';
