-- Checks whether there may be news of others, by a few index reads, so that checking often costs little. The digest then decides what is told.

create or replace function _whats_new(p_work_item_id uuid, p_projects text[], p_since timestamptz)
  returns table (what text)
  language sql
  stable
  rows 1
begin atomic
  select 'entry ' || l.id
    from work_ledger l
   where l.entry_type in ('plan', 'decision', 'finding', 'error') and not l.is_inherited
     and coalesce(l.project, '') = any (p_projects) and l.created_at > p_since and l.work_item_id <> p_work_item_id
  union all
  select concat_ws(' ', 'item', w.id, coalesce(w.resolved_at, w.started_at, w.created_at))
    from work_items w
   where coalesce(w.project, '') = any (p_projects) and coalesce(w.resolved_at, w.started_at, w.created_at) > p_since and w.id <> p_work_item_id
  union all
  select concat_ws(' ', 'path', s.id, c.work_item_id, c.event)
    from subscriptions s
   cross join lateral _changes_of(p_work_item_id, s, p_projects) c
   where s.work_item_id = p_work_item_id and (s.is_always or s.told_at is null) and s.kind = 'path';
end;

comment on function _whats_new(uuid, text[], timestamptz) is
  'What others in these projects (see _awareness_projects()) wrote, began or ended after a time, and changes of files that an item subscribed to, each as a separate text. Inlined, as _items_of() is.';

create or replace function _news_mark(p_work_item_id uuid, p_projects text[], p_since timestamptz)
  returns table (mark text)
  language sql
  stable
  rows 1
begin atomic
  select case when count(*) <= 100 then coalesce(md5(string_agg(w.what, ' ' order by w.what)), '') end
    from (select n.what from _whats_new(p_work_item_id, p_projects, p_since) n limit 101) w;
end;

comment on function _news_mark(uuid, text[], timestamptz) is
  'A mark of _whats_new() that stays the same as long as nothing is added; empty: there is nothing; null: more than 100, too many to compare. Inlined.';

create or replace function _session_has_news(p_item work_items, p_scope text)
  returns boolean
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  -- Minus a minute for transactions that were open at that time.
  v_since timestamptz := coalesce((select f.told_at from fences f where f.work_item_id = p_item.id), p_item.created_at) - interval '1 minute';
begin
  return exists (select from _whats_new(p_item.id, _awareness_projects(p_item.project, p_scope), v_since))
    or exists (select from work_ledger r where r.retracts is not null and r.created_at > v_since);
end
$$;

comment on function _session_has_news(work_items, text) is
  'Whether there may be news for a session of another program since it was told all that was new (fences.told_at). False: there are none, and no digest need be made.';
