-- The heads of the chains, to be kept where the ledger's owner cannot change them.

create or replace function ledger_head(p_work_item_id uuid default null)
  returns table (work_item_id uuid, ledger_count integer, ledger_link text, seal_count integer, seal_link text)
  language plpgsql
  stable
  rows 100
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if p_work_item_id is not null and not exists (select from fences f where f.work_item_id = p_work_item_id) then
    perform _raise_not_found('work item', p_work_item_id);
  end if;
  return query
    select f.work_item_id, coalesce(l.seq, 0), encode(l.link, 'hex'), coalesce(s.n, 0), encode(s.link, 'hex')
      from fences f
      left join lateral (
        select e.seq, e.link from work_ledger e where e.work_item_id = f.work_item_id and e.link is not null order by e.seq desc limit 1) l on true
      left join lateral (select e.n, e.link from seals e where e.work_item_id = f.work_item_id order by e.n desc limit 1) s on true
     where (p_work_item_id is null or f.work_item_id = p_work_item_id) and (l.seq is not null or s.n is not null)
     order by f.work_item_id;
end
$$;

comment on function ledger_head(uuid) is
  'The ends of a work item''s chains: how many entries and seals of turns it has, and the hash of the newest of each, in hex; null: all items. They tell nothing of what was written. Kept elsewhere, they show later that nothing up to there was changed, taken out or cut off: ledger_verify(''…'', (select jsonb_agg(h) from ledger_head(''…'') h)). Items without a chain, or without anything in it yet, have no row. Raises WL001.';
