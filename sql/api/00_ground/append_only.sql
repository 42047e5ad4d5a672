-- Recorded rows are never changed or deleted, except by the functions that erase a whole tree of work (api/80_erasure), which leave a tombstone.
-- The triggers are statement triggers, so they cost nothing per row, and always enabled, so neither a replication role nor a cascade bypasses them.

create or replace function _refuse_change()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if tg_op <> 'TRUNCATE' and _is_erasing() then
    return null;
  end if;
  raise exception using
    errcode = 'WL007',
    message = format('%s is append-only: %s is refused', tg_table_name, lower(tg_op)),
    hint = 'Record a new entry that corrects the old one.';
end
$$;

comment on function _refuse_change() is 'Trigger: refuses the statement with WL007, unless an erasing function runs it.';

create or replace function _is_erasing()
  returns boolean
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select exists (select from erasing where xid = pg_current_xact_id_if_assigned());
$$;

comment on function _is_erasing() is 'Whether the statement is run by an erasing function: only those put their transaction into erasing, and take it out before they return.';

create or replace function _refuse_erasing()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  -- Tests membership, not the current role: members of the owner have its rights, and superusers everybody's, without SET ROLE.
  if not pg_has_role(current_user, (select relowner from pg_class where oid = tg_relid), 'usage') then
    raise exception using
      errcode = 'WL007',
      message = 'only work_erase() and work_retention_run() erase what was recorded';
  end if;
  return null;
end
$$;

comment on function _refuse_erasing() is 'Trigger: nobody without the rights of the owner of the ledger, with which the erasing functions run, says that a transaction erases. Raises WL007.';

create or replace function _refuse_rewrite()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if _is_erasing() or _is_replicating() then
    return new;
  end if;
  if tg_table_name = 'work_items' then
    if old.resolved_at is not null and (old.state, old.resolved_at, old.outcome_data) is distinct from (new.state, new.resolved_at, new.outcome_data) then
      raise exception using
        errcode = 'WL003',
        message = format('work item %s is %s: a final state never changes', old.id, old.state),
        hint = 'Submit a new work item.';
    end if;
  elsif tg_table_name = 'journal_entries' then
    if old.deleted_at is not null or new.deleted_at is null
       or (old.id, old.work_item_id, old.entry_type, old.importance, old.created_at)
          is distinct from (new.id, new.work_item_id, new.entry_type, new.importance, new.created_at) then
      raise exception using errcode = 'WL007', message = 'a journal entry can be deleted, not changed';
    end if;
  elsif tg_table_name = 'turns' and to_jsonb(new) - '{archived_at,total_tokens}'::text[] = to_jsonb(old) - '{archived_at,total_tokens}'::text[] then
    null; -- archived or unarchived; generated columns have no value yet in a before trigger
  elsif old.completed_at is not null then
    raise exception using
      errcode = 'WL007',
      message = format('%s %s is settled: its result is written once', tg_table_name, old.id);
  end if;
  return new;
end
$$;

comment on function _refuse_rewrite() is 'Trigger: a settled tool call, a settled turn (except archived_at) and the final state of a work item are written once; a journal entry can only lose its content. An erasing function may take the words away, and what replication brings was decided where it comes from. Raises WL003, WL007.';

do $do$
declare
  v_table text;
begin
  foreach v_table in array array[
    'work_ledger', 'messages', 'session_history', 'turn_configs', 'elisions', 'artifacts', 'awareness_shown', 'turn_workspaces',
    'work_checkpoints', 'message_lints', 'artifact_uses', 'seals', 'locks', 'memory_versions'] loop
    execute format('create or replace trigger refuse_change before update or delete or truncate on %I execute function _refuse_change()', v_table);
    execute format('alter table %I enable always trigger refuse_change', v_table);
  end loop;
  foreach v_table in array array[
    'work_items', 'fences', 'turns', 'tool_calls', 'compactions', 'inbox', 'approvals', 'hook_runs', 'budgets', 'foci', 'faculties',
    'sessions', 'journal_entries', 'erasures', 'memory_files'] loop
    execute format('create or replace trigger refuse_delete before delete or truncate on %I execute function _refuse_change()', v_table);
    execute format('alter table %I enable always trigger refuse_delete', v_table);
  end loop;
  create or replace trigger refuse_erasing before insert or update or truncate on erasing execute function _refuse_erasing();
  alter table erasing enable always trigger refuse_erasing;
  -- Because of these column lists, appends, heartbeats and claims do not fire the triggers.
  create or replace trigger refuse_rewrite before update of state, resolved_at, outcome_data on work_items
    for each row when (old.resolved_at is not null) execute function _refuse_rewrite();
  create or replace trigger refuse_rewrite before update on tool_calls
    for each row when (old.completed_at is not null) execute function _refuse_rewrite();
  create or replace trigger refuse_rewrite before update on journal_entries
    for each row execute function _refuse_rewrite();
  create or replace trigger refuse_rewrite before update on turns
    for each row when (old.completed_at is not null) execute function _refuse_rewrite();
  foreach v_table in array array['work_items', 'turns', 'tool_calls', 'journal_entries'] loop
    execute format('alter table %I enable always trigger refuse_rewrite', v_table);
  end loop;
end
$do$;
