-- Finds which items wait for which: derived from the calls of parked items whose wait has not ended. It is stored nowhere else, so nothing has to be kept
-- in sync.

create or replace function _is_wait(p_ability text)
  returns boolean
  language sql
  immutable
  parallel safe
  return p_ability in ('await_child_work', 'wait_for');

comment on function _is_wait(text) is 'Whether a call of the ability parks its work item until something has come.';

create or replace function _awaits(p_input json)
  returns uuid[]
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  return case when p_input -> 'work_item_ids' is null then '{}' else _uuids('work_item_ids', (p_input -> 'work_item_ids')::jsonb) end;
end
$$;

comment on function _awaits(json) is 'The work items that a call with this input waits for; {}: none, only a claim or a time. Raises WL002.';

create or replace function _waits_of(p_work_item_ids uuid[])
  returns setof tool_calls
  language plpgsql
  stable
  rows 2
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  return query
    select k.*
      from work_items w
      join foci f on f.id = w.focus_id
      join turns t on t.focus_id = f.id and t.iteration = f.iteration + 1 and t.status = 'completed'
      join tool_calls k on k.turn_id = t.id and k.completed_at is null and k.status = 'waiting' and _is_wait(k.tool_name)
     where w.id = any (p_work_item_ids);
end
$$;

comment on function _waits_of(uuid[]) is 'The calls of these items that wait now for other work or for a time.';

create or replace function _awaited_by(p_work_item_id uuid)
  returns setof tool_calls
  language plpgsql
  stable
  rows 2
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  return query
    select k.*
      from tool_calls k
     where k.tool_name in ('await_child_work', 'wait_for') and k.wait_ends_at is not null and k.completed_at is null
       and lower((k.input -> 'work_item_ids')::text)::jsonb ? p_work_item_id::text -- as in index tool_calls_awaited
     order by k.created_at, k.id;
end
$$;

comment on function _awaited_by(uuid) is 'The calls that wait for a work item now, whoever made them, in the order in which they were made.';

create or replace function _claim_waiters(p_key text)
  returns setof tool_calls
  language plpgsql
  stable
  rows 2
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  return query
    select k.*
      from tool_calls k
     where k.tool_name = 'wait_for' and k.wait_ends_at is not null and k.completed_at is null
       -- As in index tool_calls_claim_awaited: the last part of the name is the same, however a file is written.
       and lower(regexp_replace(k.input ->> 'claim', '^(file:)?(.*/)?', '')) = lower(regexp_replace(p_key, '^(file:)?(.*/)?', ''));
end
$$;

comment on function _claim_waiters(text) is 'The calls that wait now for a claim of that name or of one much like it.';

create or replace function _to_wake(p_item work_items)
  returns uuid[]
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select case when p_item.resolved_at is null then array[p_item.id]
              else p_item.parent_id || array(select k.work_item_id from _awaited_by(p_item.id) k) end;
$$;

comment on function _to_wake(work_items) is
  'The items to enqueue now that an attempt at an item is over: itself or, if it reached its end, its parent and the items that wait for it. Whether they wait is checked under their own locks when they are claimed, and a needless job does no harm. If one begins to wait while this transaction ends, the sweep finds that its wait is over.';

create or replace function _has_come(p_work_item_id uuid)
  returns boolean
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  return exists (
    select from _waits_of(array[p_work_item_id]) k
      join work_items w on w.id = k.work_item_id
     where (cardinality(_awaits(k.input)) > 0 or k.tool_name = 'wait_for' and k.input ->> 'claim' is not null)
       and not exists (select from work_items o where o.id = any (_awaits(k.input)) and o.resolved_at is null)
       and _claim_held_by(w, case k.tool_name when 'wait_for' then k.input ->> 'claim' end, k.id) is null);
end
$$;

comment on function _has_come(uuid) is 'Whether everything that a call of an item waits for, except a time, has happened.';
