-- Compaction on request, and whether one will be needed soon.

create or replace function context_compact(p_work_item_id uuid, p_instructions text default null)
  returns text
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items := _open_item(p_work_item_id);
  v_focus foci;
begin
  if v_item.focus_id is null then
    raise exception using errcode = 'WL008', message = format('work item %s has no running attempt whose context could be compacted', v_item.id);
  end if;
  if octet_length(p_instructions) > 4096 then
    perform _raise_invalid('instructions for a summary can have at most 4 KiB');
  end if;
  update foci set compaction_trigger = 'manual', compaction_instructions = nullif(btrim(p_instructions), '') where id = v_item.focus_id
  returning * into v_focus;
  return (
    select case
             when n.reason is not null then n.reason
             when (n.head).id is null then 'There is nothing to compact yet; the second request checks again.'
             when (n.compaction).compaction_type is null
               then 'Nothing would be gained now: less than a tenth of the context could be left out. The next request checks again.'
           end
      from _faculty_config(v_focus) c cross join lateral _context_next(v_item, v_focus, c, _iteration_flags(v_item, v_focus, c)) n);
end
$$;

comment on function context_compact(uuid, text) is
  'Compacts the context of a work item''s current attempt with its next request, whatever its size. The ledger replaces old turns; if the ledger has hardly any entries, or p_instructions is given, a summary by a model does. p_instructions: what the summary should preserve above all. Returns null, or why nothing would be gained with the context as it is now. The next request decides again, and if less than a tenth would be freed, nothing happens; v_compactions shows what was done. Raises WL001, WL002, WL003, WL008 (no attempt is running).';

create or replace function work_approaching_limit(p_work_item_id uuid, p_threshold numeric default null)
  returns boolean
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if not exists (select from work_items where id = p_work_item_id) then
    perform _raise_not_found('work item', p_work_item_id);
  end if;
  return coalesce((
    select v.tokens >= case when p_threshold is null then 0.8 * v.compacts_at else p_threshold * v.context_window end
      from v_context v
     where v.work_item_id = p_work_item_id
     order by v.attempt desc limit 1), false);
end
$$;

comment on function work_approaching_limit(uuid, numeric) is
  'Whether the context of a work item''s newest attempt is nearly full: it fills at least p_threshold (a fraction) of the model''s window or, if null, 0.8 of the size at which it will be compacted. v_context has the figures. Raises WL001.';
