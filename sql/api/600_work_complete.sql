create or replace function work_complete(
    p_work_item_id uuid,
    p_summary text,
    p_evidence jsonb default '[]',
    p_lease uuid default null)
  returns work_items
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items;
begin
  if coalesce(p_summary, '') !~ '\S' then
    perform _raise_invalid('a completed work item needs a summary of what came of it');
  end if;
  select * into v_item from work_items
   where id = p_work_item_id and state = 'completed' and outcome_data ->> 'summary' = p_summary;
  if found then
    return v_item;
  end if;
  v_item := _fence(p_work_item_id, p_lease);
  return _focus_end(v_item, 'completed', 'completed', null,
    jsonb_build_object('summary', p_summary, 'evidence', coalesce(p_evidence, '[]')));
end
$$;

comment on function work_complete(uuid, text, jsonb, uuid) is
  'Completes a work item: one that no focus drives (an agent in another language that works from the ledger), or with its lease the one being driven. p_evidence: ids of tool calls or artifacts that show it. Repeating the call changes nothing. Raises WL001, WL002, WL003, WL004, WL005.';

create or replace function work_fail(
    p_work_item_id uuid,
    p_reason text,
    p_lease uuid default null)
  returns work_items
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items;
begin
  if coalesce(p_reason, '') !~ '\S' then
    perform _raise_invalid('a failed work item needs a reason');
  end if;
  select * into v_item from work_items where id = p_work_item_id and state = 'failed' and state_reason = p_reason;
  if found then
    return v_item;
  end if;
  v_item := _fence(p_work_item_id, p_lease);
  return _focus_end(v_item, 'failed', 'failed', p_reason, null);
end
$$;

comment on function work_fail(uuid, text, uuid) is
  'Ends a work item as failed, as work_complete() ends one as completed. Raises WL001, WL002, WL003, WL004, WL005.';
