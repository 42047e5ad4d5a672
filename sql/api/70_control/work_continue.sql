-- Continues work that has ended, in a new item of the same session, since final states stay final.

create or replace function work_continue(
    p_work_item_id uuid,
    p_content text,
    p_idempotency_key text default null,
    p_external_id text default null)
  returns work_items
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if coalesce(p_content, '') !~ '\S' then
    perform _raise_invalid('a conversation continues with a message, and p_content is empty');
  end if;
  return _work_goes_on(p_work_item_id, '{completed}', p_content, p_idempotency_key, p_external_id);
end
$$;

comment on function work_continue(uuid, text, text, text) is
  'Continues completed work: select id from work_continue(''…'', ''And now the tests''). Returns a new item with the same task, session, project, faculty, budget and submitter. Its agent starts with the whole conversation and ledger, and receives p_content as the next message from people, after any earlier ones that were not delivered. The completed item stays as it is; work_chain() lists both. p_idempotency_key, p_external_id: repeating the same call with either returns the same item. Only one item can continue another; to take a different path, work_fork() one of its turns. Raises WL001, WL002 (no message, or another program''s session), WL003 (erased), WL006 (key or external id used for another item), WL008 (not completed, or already continued), 42501.';

create or replace function work_retry(
    p_work_item_id uuid,
    p_content text default null,
    p_idempotency_key text default null,
    p_external_id text default null)
  returns work_items
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  return _work_goes_on(p_work_item_id, '{failed,dead,cancelled}', p_content, p_idempotency_key, p_external_id);
end
$$;

comment on function work_retry(uuid, text, text, text) is
  'Continues failed, dead or cancelled work from where it ended: select id from work_retry(''…'', ''The key works again''). Returns a new item with the same task, session, project, faculty, budget and submitter. Its agent starts with the conversation and the ledger, is told how the previous item ended, and may make as many attempts. p_content: the reason, given to the agent as a message from people. The item that ended stays as it is; work_chain() lists both. A retry of a child is a root item: the parent''s call already has its result, which the parent may have acted on, and gets no second one. Within a project, the parent''s digest reports what the retry finds and how it ends, as for other work; to make the parent act on it, send it a work_message(), or retry the parent. p_idempotency_key, p_external_id: repeating the same call with either returns the same item. Raises WL001, WL002 (another program''s session), WL003 (erased), WL006 (key or external id used for another item), WL008 (not over, completed, or already retried), 42501.';

create or replace function _work_goes_on(p_work_item_id uuid, p_states text[], p_content text, p_idempotency_key text, p_external_id text)
  returns work_items
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_by text := coalesce(_person(), session_user);
  v_source work_items;
  v_item work_items;
  v_turn uuid;
  v_message inbox;
begin
  perform _check_key('an idempotency key', p_idempotency_key), _check_key('an external id', p_external_id);
  if '' in (p_idempotency_key, p_external_id) then
    perform _raise_invalid('an empty string is not a key or an identifier', 'Leave the argument out, or pass null.');
  end if;
  if octet_length(p_content) > 60000 then
    perform _raise_invalid('a message can have at most 60,000 bytes');
  end if;
  v_source := _item_locked(p_work_item_id); -- one at a time, and not while it is being erased
  perform _check_submitter(p_work_item_id), _refuse_erased(p_work_item_id);
  select * into v_item from work_items where continues_id = p_work_item_id and (idempotency_key = p_idempotency_key or external_id = p_external_id);
  if found then
    return v_item;
  end if;
  perform _goes_on_check(v_source, p_states);
  v_turn := _newest_turn(p_work_item_id);
  v_item := work_submit(v_source.work_type, v_source.description, v_source.params, v_source.faculty, v_source.priority,
    p_max_attempts => v_source.max_attempts, p_source => v_source.source, p_workspace_dir => v_source.workspace_dir, p_project => v_source.project,
    p_result_schema => v_source.result_schema);
  perform _lock('branches', v_turn::text);
  if p_content ~ '\S' then
    v_message := work_message(v_item.id, p_content);
  end if;
  -- Messages that the agent never read wait again, and are told before the new one.
  insert into inbox (work_item_id, kind, content, person, created_at)
  select v_item.id, i.kind, i.content, i.person, i.created_at
    from inbox i where i.work_item_id = p_work_item_id and i.kind = 'message' and i.consumed_at is null;
  update work_items
     set continues_id = p_work_item_id, continued_by = v_by, continued_with = v_message.id, fork_turn_id = v_turn,
         submitted_by = v_source.submitted_by, workspace_dir_by = v_source.workspace_dir_by, ledger_epoch = v_source.ledger_epoch,
         idempotency_key = p_idempotency_key, external_id = p_external_id
   where id = v_item.id
  returning * into v_item;
  update fences set submitted_by = v_source.submitted_by where work_item_id = v_item.id;
  perform _ledger_inherit(v_item, p_work_item_id, ledger_count(v_source));
  perform _budget_store(v_item.id, b.resource, b.amount) from budgets b where b.work_item_id = p_work_item_id;
  return v_item;
exception
  when unique_violation then -- work_submit() with a key would not do: it would answer with whichever item has the key
    raise exception using
      errcode = 'WL006',
      message = format('idempotency key or external id "%s" was used for another work item', concat_ws('", "', p_idempotency_key, p_external_id)),
      hint = 'A key identifies one item; use a new key for a new item.';
end
$$;

comment on function _work_goes_on(uuid, text[], text, text, text) is
  'The new item that continues one in these states. Raises WL001, WL002, WL003, WL006, WL008, 42501.';

create or replace function _goes_on_check(p_source work_items, p_states text[])
  returns void
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_next uuid := (select c.id from work_items c where c.continues_id = p_source.id and c.erased_at is null);
begin
  if p_source.work_type in ('journal', 'ldg:task') or _is_recorded(p_source) then
    perform _raise_invalid(format('work item %s is a session of another program, which continues it', p_source.id),
      'To continue it with an agent of this ledger, work_fork() its newest turn: work-ledger resume SESSION --in work-ledger.');
  elsif p_source.state <> all (p_states) then
    raise exception using
      errcode = 'WL008',
      message = format('work item %s is %s', p_source.id, p_source.state),
      hint = _how_to_go_on(p_source.state);
  elsif v_next is not null then
    raise exception using
      errcode = 'WL008',
      message = format('work item %s has already been continued, as %s', p_source.id, v_next),
      hint = 'Continue that one when it has ended; to take another path from here, work_fork() a turn.';
  end if;
end
$$;

comment on function _goes_on_check(work_items, text[]) is 'Raises WL002 for another program''s session, WL008 for an item in none of these states, or one that is already continued.';

create or replace function _how_to_go_on(p_state text)
  returns text
  language sql
  immutable
  parallel safe
  return case when p_state = 'completed' then 'work_continue() continues it with a message, as a new item in the same session.'
              when p_state in ('failed', 'dead', 'cancelled') then 'work_retry() continues where it ended, as a new item in the same session.'
              when p_state = 'paused' then 'It has not ended: work_resume() resumes it, work_message() sends its agent a message.'
              else 'It has not ended: work_message() sends its agent a message, work_cancel() ends it.' end;

comment on function _how_to_go_on(text) is 'The function that continues an item in a state, as the hint of an error.';
