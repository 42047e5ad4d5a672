-- Moving a ledger to another server ("work-ledger move"). Its rows get there by logical replication, and at most one of the two ledgers
-- may be written to at any time. Triggers named refuse_moved, which only that command creates and drops, are on every table of the side that must
-- not be written to: the target until the move is final, the source afterwards.

create or replace function _is_replicating()
  returns boolean
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select current_setting('session_replication_role') = 'replica' and exists (select from pg_stat_subscription where pid = pg_backend_pid());
$$;

comment on function _is_replicating() is 'Whether the server itself writes, with rows of a subscription: what they hold was checked where they come from. Nobody else becomes such a process by a setting.';

create or replace function _refuse_moved()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if tg_argv[0] = 'to' then
    raise exception using
      errcode = 'WL011',
      message = format('this ledger has moved to %s: nothing more can be written here', tg_argv[2]),
      hint = 'Use that address. "work-ledger move --undo" reverts a move that has not finished.';
  elsif not _is_replicating() then
    raise exception using
      errcode = 'WL011',
      message = format('this ledger is being moved here from %s: nothing can be written here until the move is complete', tg_argv[2]),
      hint = 'Use that address until then.';
  end if;
  return null;
end
$$;

comment on function _refuse_moved() is 'Trigger: refuses whoever would write to the side of a move that may not be written. Arguments: to or from, which ledger is on the other side, its address. Raises WL011.';

create or replace function _moved()
  returns table (direction text, peer text, address text)
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select a.given[1], a.given[2], a.given[3]
    from pg_trigger t
    cross join lateral (select string_to_array(encode(t.tgargs, 'escape'), '\000') as given) a
   where t.tgrelid = 'work_items'::regclass and t.tgfoid = '_refuse_moved()'::regprocedure;
$$;

comment on function _moved() is 'Where this ledger is moved (direction: to) or comes from (from), as _refuse_moved() has it; no row: it is written here.';
