-- Invariants of the tree of turns, whoever writes it. The triggers are deferred, so that a function may write in any order. A session's head is
-- checked on updates only, since a dump restores session_history after sessions.

create or replace function _check_turn()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_depth integer;
  v_has_open boolean;
begin
  -- When a dump is restored, COPY loads compactions after turns.
  if new.turn_type = 'compaction' and new.status = 'completed' and (tg_op = 'UPDATE' or current_query() !~* '^\s*copy\s') then
    if not exists (select from compactions where turn_id = new.id) then
      raise exception using errcode = 'WL007', message = format('compaction turn %s has no row in compactions', new.id);
    end if;
  end if;
  if tg_op = 'UPDATE' or new.parent_turn_id is null then
    return null;
  end if;
  select p.depth, exists (select from tool_calls k where k.turn_id = p.id and k.completed_at is null)
    into v_depth, v_has_open
    from turns p
   where p.id = new.parent_turn_id;
  if new.depth <> v_depth + 1 then
    raise exception using errcode = 'WL007', message = format('turn %s has depth %s, its parent %s', new.id, new.depth, v_depth);
  end if;
  if v_has_open then
    raise exception using errcode = 'WL007', message = format('turn %s follows a turn with open tool calls', new.id);
  end if;
  return null;
end
$$;

comment on function _check_turn() is 'Trigger: the depth of a turn is one more than its parent''s, whose calls are all settled; a completed compaction turn has its row in compactions. Raises WL007.';

create or replace function _check_head()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if (select head_turn_id from sessions where label = new.label) is distinct from
     (select turn_id from session_history where session_label = new.label order by id desc limit 1) then
    raise exception using errcode = 'WL007', message = format('the head of session "%s" was moved without a row in session_history', new.label);
  end if;
  return null;
end
$$;

comment on function _check_head() is 'Trigger: every move of a session''s head is logged. Raises WL007.';

do $do$
begin
  if not exists (select from pg_trigger where tgname = 'check_turn' and tgrelid = 'turns'::regclass) then
    create constraint trigger check_turn after insert on turns deferrable initially deferred
      for each row execute function _check_turn();
    create constraint trigger check_compaction after update of status on turns deferrable initially deferred
      for each row when (new.turn_type = 'compaction' and new.status = 'completed') execute function _check_turn();
    create constraint trigger check_head after update of head_turn_id on sessions deferrable initially deferred
      for each row when (new.head_turn_id is distinct from old.head_turn_id) execute function _check_head();
  end if;
end
$do$;
