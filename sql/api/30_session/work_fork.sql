-- Forking work: a new work item whose conversation begins with the turns up to a given one.

create or replace function work_fork(
    p_turn_id uuid,
    p_message text default null,
    p_faculty text default null,
    p_idempotency_key text default null)
  returns work_items
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_turn turns := _turn_settled(p_turn_id);
  v_source work_items;
  v_item work_items;
  v_is_known boolean;
  v_last integer;
begin
  perform _check_key('an idempotency key', p_idempotency_key);
  if octet_length(p_message) > 60000 then
    perform _raise_invalid('a message can have at most 60,000 bytes');
  end if;
  select * into v_source from work_items where id = v_turn.work_item_id;
  if not found then
    perform _raise_invalid(format('turn %s belongs to no work item', p_turn_id));
  end if;
  if v_turn.turn_type <> 'normal' then
    perform _raise_invalid(format('turn %s is a compaction', p_turn_id), 'Fork from the turn before it.');
  end if;
  select * into v_item from work_items where idempotency_key = p_idempotency_key;
  v_is_known := found;
  if not found then
    v_item := work_submit(v_source.work_type, v_source.description, v_source.params, coalesce(p_faculty, v_source.faculty), v_source.priority,
                          p_source => v_source.source, p_idempotency_key => p_idempotency_key, p_workspace_dir => v_source.workspace_dir,
                          p_project => v_source.project, p_result_schema => v_source.result_schema);
  end if;
  -- An identical call at the same moment may have created it: work_submit() waited for that call, and returns its fork.
  if v_is_known or v_item.fork_turn_id is not null then
    if v_item.fork_turn_id is distinct from p_turn_id then
      raise exception using errcode = 'WL006', message = format('idempotency key "%s" was used for another work item: %s', p_idempotency_key, v_item.id);
    end if;
    return v_item;
  end if;
  perform _hold_off_erasing(v_source.id);
  perform _lock('branches', p_turn_id::text);
  -- The ledger as it was when the results of that turn had arrived.
  select coalesce(max(l.seq), 0) into v_last
    from work_ledger l
   where l.work_item_id = v_source.id
     and (l.created_at <= v_turn.completed_at or l.turn_id = v_turn.id
          or l.tool_call_id in (select id from tool_calls where turn_id = v_turn.id));
  update work_items
     set fork_turn_id = p_turn_id,
         -- If someone else forks the item, the directory is used only if they may name it.
         workspace_dir_by = case when v_source.submitted_by = session_user or _writes_for_all() then v_source.workspace_dir_by else workspace_dir_by end,
         -- Entries hidden by a later fresh attempt stay visible to the attempt that the turn belongs to.
         ledger_epoch = coalesce((select max(l.seq) from work_ledger l join foci f on f.id = v_turn.focus_id
                                   where l.work_item_id = v_source.id and l.seq <= v_source.ledger_epoch and l.attempt < f.attempt), 0)
   where id = v_item.id
  returning * into v_item;
  perform _ledger_inherit(v_item, v_source.id, v_last);
  if p_message ~ '\S' then
    perform work_message(v_item.id, p_message);
  end if;
  return v_item;
end
$$;

comment on function work_fork(uuid, text, text, text) is
  'Lets an agent continue on a separate branch from a turn of any work item (running, finished or imported), and returns the new item''s row: select id from work_fork(''TURN'', ''Try without the cache''). The new item has the same task, its own lease, budget and session, the turns up to p_turn_id (shared, not copied) and a copy of the ledger as it was then. p_message: the first message to its agent. p_faculty: a different configuration. A fork from before a compaction does not see the compaction. With p_idempotency_key, repeating the same call returns the same item. Raises WL001 (turn), WL002 (the turn is a compaction or belongs to no work item), WL006 (key used for another item), WL008 (calls of the turn are open).';

create or replace function _ledger_inherit(p_item work_items, p_source_id uuid, p_last integer)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  update fences set ledger_count = p_last where work_item_id = p_item.id;
  insert into work_ledger (
    work_item_id, seq, entry_type, content, data, keep, retracts, trust, attempt, focus_id, turn_id, tool_call_id, is_auto, is_child_work, is_inherited,
    created_at, project)
  select p_item.id, l.seq, l.entry_type, l.content, l.data, l.keep, l.retracts, l.trust, 0, l.focus_id, l.turn_id, l.tool_call_id,
         l.is_auto, l.is_child_work, true, l.created_at, p_item.project
    from work_ledger l
   where l.work_item_id = p_source_id and l.seq <= p_last
   order by l.seq; -- each entry is linked to the previous one
end
$$;

comment on function _ledger_inherit(work_items, uuid, integer) is 'Copies the ledger of an item up to entry p_last into a new one, where it counts as recorded before: it is no news to others, and searches find the original.';
