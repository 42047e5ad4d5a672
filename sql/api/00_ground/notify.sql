-- Notifications. Each contains only an id; the listener reads the rows again. They may get lost, so listeners poll as well.
--   work_item_completed   a work item reached a final state; payload: its id
--   work_approval_requested  a tool call waits for approval; payload: its id
--   work_lease_revoked    a person's action revoked a lease; payload: focus_id/lease_generation
--   work_journal          an entry was logged to a work item's journal; payload: the work item's id
--   work_ledger           entries were appended to a watched work item; payload: its id. Sent at most ten times a second, but at
--                         least once: read again after 200 ms and 1.2 s as well, for entries that came without one
--   work_activity         a watched work item has something new to show in work_activity(); payload: its id
--   work_watched          someone began to watch a work item or renewed the watch; payload: its id

create or replace function _notify_completed()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  perform pg_notify('work_item_completed', new.id::text);
  return null;
end
$$;

comment on function _notify_completed() is 'Trigger: notifies channel work_item_completed of a work item that reached a final state (payload: its id).';

create or replace function _notify_journal()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  perform pg_notify('work_journal', new.work_item_id::text);
  return null;
end
$$;

comment on function _notify_journal() is 'Trigger: notifies channel work_journal of an entry logged to a work item''s journal (payload: the item''s id).';

create or replace function ledger_watch(
    p_work_item_id uuid,
    p_seconds integer default 60)
  returns timestamptz
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
  set lock_timeout = '1s'
as $$
declare
  v_until timestamptz := _now() + make_interval(secs => least(greatest(coalesce(p_seconds, 60), 0), 3600));
begin
  update fences
     set watch_ends_at = greatest(watch_ends_at, v_until)
   where work_item_id = p_work_item_id
  returning watch_ends_at into v_until;
  if not found then
    perform _raise_not_found('work item', p_work_item_id);
  end if;
  perform pg_notify('work_watched', p_work_item_id::text);
  return v_until;
end
$$;

comment on function ledger_watch(uuid, integer) is
  'Watches a work item for the next p_seconds (default 60; at most 3600). Meanwhile appends send notifications on channel work_ledger (payload: the work item''s id; at most ten a second, so that watching costs writers nothing), each step of its agent one on channel work_activity, and work_activity() shows the model''s response as it arrives. Returns when the watch ends; call it again before then to renew. Read the ledger again at each notification, once more 200 ms and 1.2 s later (entries within 100 ms of a notification send none of their own, on a busy server within a second), and every few seconds without one. Raises WL001; 55P03 if a transaction that has written to the item stays open for a second: read every few seconds, and call it again later.';

create or replace function _is_watched(p_watch_ends_at timestamptz)
  returns boolean
  language sql
  volatile
  return coalesce(p_watch_ends_at > _now(), false);

comment on function _is_watched(timestamptz) is 'Whether a watch until then (fences.watch_ends_at) still lasts.';

create or replace function _is_watched(p_work_item_id uuid)
  returns boolean
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select exists (select from fences where work_item_id = p_work_item_id and _is_watched(watch_ends_at));
$$;

comment on function _is_watched(uuid) is 'Whether someone watches a work item (ledger_watch).';

create or replace trigger notify_journal after insert on journal_entries
  for each row execute function _notify_journal();

create or replace trigger notify_completed after update of state on work_items
  for each row when (new.resolved_at is not null and old.resolved_at is null) execute function _notify_completed();
