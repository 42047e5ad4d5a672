-- Deletes journal entries that were logged from outside.

create or replace function journal_entry_delete(p_id uuid, p_reason text default null)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_named_id uuid := (select w.id from journal_entries j join work_items w on w.id = j.work_item_id
                       where j.id = p_id and w.params ->> 'namedBy' = p_id::text and w.resolved_at is null);
begin
  if v_named_id is not null then
    perform _session_name(v_named_id, null, null) where (_item_locked(v_named_id)).resolved_at is null;
  end if;
  update journal_entries set content = null, deleted_at = _now(), delete_reason = p_reason where id = p_id and deleted_at is null;
  if not found and not exists (select from journal_entries where id = p_id) then
    perform _raise_not_found('journal entry', p_id);
  end if;
end
$$;

comment on function journal_entry_delete(uuid, text) is 'Deletes the content of a logged entry; its type and time are kept. If the entry is the prompt that gave an unfinished session its name, the session loses the name. Entries derived from ledger and calls cannot be deleted. Raises WL001.';

create or replace function journal_cleanup(p_older_than interval default '90 days', p_importance text[] default '{low,normal}')
  returns integer
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_count integer;
begin
  perform _check_span('p_older_than', p_older_than);
  update journal_entries j
     set content = null, deleted_at = _now(), delete_reason = 'cleanup'
    from work_items w
   where w.id = j.work_item_id and w.resolved_at < _now() - p_older_than and j.deleted_at is null and j.importance = any (p_importance);
  get diagnostics v_count = row_count;
  return v_count;
end
$$;

comment on function journal_cleanup(interval, text[]) is 'Deletes the content of logged entries of sessions that ended at least p_older_than ago, by default only entries of low and normal importance. Returns how many. Call it from a cron job. Raises WL002.';
