-- Retracts an entry: it stays in the log, marked as retracted, and disappears from what agents read and are told.

create or replace function ledger_retract(p_work_item_id uuid, p_seq integer, p_reason text)
  returns work_ledger
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items;
  v_entry work_ledger;
  v_fence fences;
  v_retraction work_ledger;
begin
  if coalesce(p_reason, '') !~ '\S' or octet_length(p_reason) > 2000 then
    perform _raise_invalid('a retraction needs a reason of at most 2,000 bytes');
  end if;
  v_item := _item_locked(p_work_item_id);
  perform _refuse_erased(p_work_item_id);
  select * into v_entry from work_ledger where work_item_id = p_work_item_id and seq = p_seq;
  if not found then
    raise exception using errcode = 'WL001', message = format('the ledger of work item %s has no entry %s', p_work_item_id, coalesce(p_seq::text, '(null)'));
  elsif v_entry.retracts is not null then
    perform _raise_invalid(format('entry %s is itself a retraction', p_seq), 'Append the correct version as a new entry.');
  end if;
  select * into v_retraction from work_ledger where work_item_id = p_work_item_id and retracts = p_seq;
  if found then
    return v_retraction;
  end if;
  -- Also allowed for work that has ended, since its findings are still told.
  update fences set ledger_count = ledger_count + 1 where work_item_id = p_work_item_id returning * into v_fence;
  insert into work_ledger (work_item_id, seq, entry_type, content, retracts, attempt, is_child_work, created_at, project)
  values (
    p_work_item_id, v_fence.ledger_count, 'retraction', p_reason, p_seq, v_fence.attempt, v_fence.is_child, _now(), v_fence.project)
  returning * into v_retraction;
  if v_fence.watch_ends_at > _now() then
    perform pg_notify('work_ledger', p_work_item_id::text);
  end if;
  return v_retraction;
end
$$;

comment on function ledger_retract(uuid, integer, text) is
  'Retracts an entry of any work item, running or finished: select ledger_retract(''…'', 3, ''It was the cache''). The entry stays in the log, where ledger_read() shows both it and the retraction. It disappears from digests, search and everything else agents are given to read, and every agent that was told of it, or wrote it, is informed with its next request. Returns the row of the retraction, an entry of its own whose retracts column refers to the retracted one; repeating the same call returns the same row. Raises WL001, WL002, WL003 (erased).';

create or replace function _is_retracted(p_work_item_id uuid, p_seq integer, p_until_seq integer default 2147483647)
  returns boolean
  language sql
  stable
  parallel safe
  return exists (select from work_ledger r where r.work_item_id = p_work_item_id and r.retracts = p_seq and r.seq <= p_until_seq);

comment on function _is_retracted(uuid, integer, integer) is 'Whether an entry was retracted, by an entry up to p_until_seq.';
