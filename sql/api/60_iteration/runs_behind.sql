-- The order of the calls of a response: two calls that touch the same thing, if one of them changes it, run one after the other; all others run in parallel.

create or replace function _runs_behind(p_call tool_calls)
  returns uuid[]
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with mine as materialized (
    select t.kind, case t.kind when 'path' then _path_plain(t.target) else t.target end as target, t.action not in ('read', 'search') as is_change
      from touches t where t.tool_call_id = p_call.id
  ), other as materialized (
    select k.id, k.ordinal, t.kind, case t.kind when 'path' then _path_plain(t.target) else t.target end as target,
           t.action not in ('read', 'search') as is_change
      from tool_calls k join touches t on t.tool_call_id = k.id
     where exists (select from mine) and k.turn_id = p_call.turn_id and k.completed_at is null and k.id <> p_call.id
       -- It waits for every running call, and for calls that are not running but come earlier in the response. A call made by code has the position of
       -- its execute_code call.
       and (k.status = 'running'
            or (k.status = 'waiting' or k.status = 'pending' and k.parent_call_id is null)
               and _call_position(k) < _call_position(p_call))
  )
  select array(
    select o.id from other o
     where exists (select from mine m where m.kind = o.kind and (m.is_change or o.is_change)
                      and case m.kind when 'path' then _paths_meet(m.target, o.target) else m.target = o.target end)
     group by o.id, o.ordinal order by o.ordinal, o.id);
$$;

comment on function _runs_behind(tool_calls) is 'The open calls of its turn that a call has to wait for now, because both touch the same thing and one of them changes it.';

create or replace function _calls_held(p_turn_id uuid)
  returns uuid[]
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_open uuid[] := array(select id from tool_calls where turn_id = p_turn_id and status = 'waiting');
  v_held uuid[] := '{}';
  v_call tool_calls;
begin
  if v_open <> '{}' then
    for v_call in
      select k.* from tool_calls k where k.turn_id = p_turn_id and k.status = 'pending' order by _call_position(k), k.parent_call_id is not null, k.ordinal
    loop
      if _runs_behind(v_call) && (v_open || v_held) then
        v_held := v_held || v_call.id;
      end if;
    end loop;
  end if;
  return v_held;
end
$$;

comment on function _calls_held(uuid) is
  'Pending calls of a turn that come after one that waits (for approval, for children). They wait with it, even if approved themselves, so that changes to one thing keep their order.';

create or replace function _begins_behind(p_call tool_calls)
  returns uuid[]
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select case when p_call.id = any (_calls_held(p_call.turn_id)) then array[p_call.id] else _runs_behind(p_call) end;
$$;

comment on function _begins_behind(tool_calls) is '_runs_behind(); or the call''s own id, if one of those waits for approval: the worker should not wait for it but leave the call open.';

create or replace function _order_kept(p_call tool_calls, p_implementation text)
  returns uuid[]
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select array(
    select k.id
      from tool_calls k
      left join abilities a on a.tool_name = k.tool_name
     where p_call.parent_call_id is null and k.turn_id = p_call.turn_id and k.parent_call_id is null
       and k.status in ('pending', 'running') and k.ordinal < p_call.ordinal
       and (p_implementation <> 'runtime' and a.implementation <> 'runtime'
            or not (select (f.config #>> '{engage,parallel_tool_execution}')::boolean
                      from turns t join foci o on o.id = t.focus_id join faculties f on f.content_hash = o.faculty_hash where t.id = p_call.turn_id))
     order by k.ordinal desc limit 1);
$$;

comment on function _order_kept(tool_calls, text) is
  'The open call of the model that a call must follow whatever they touch: for a SQL tool, the previous SQL tool, so that a plan is recorded before the step after it; with parallel_tool_execution off, for any call, the previous call.';

create or replace function _paths_meet(p_one text, p_other text)
  returns boolean
  language sql
  immutable
  parallel safe
  return case
    when p_one = p_other then true
    when (p_one ~ '^/') = (p_other ~ '^/') then '' in (p_one, p_other) or starts_with(p_one, p_other || '/') or starts_with(p_other, p_one || '/')
    -- The workspace's own path is not known here, so a relative path may be any absolute path that contains it.
    when p_one ~ '^/' then position('/' || p_other || '/' in p_one || '/') > 0
    else position('/' || p_one || '/' in p_other || '/') > 0
  end;

comment on function _paths_meet(text, text) is 'Whether two paths (from _path_plain()) are or may be the same file, or one is a directory above the other.';

create or replace function _call_position(p_call tool_calls)
  returns integer
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce((select c.ordinal from tool_calls c where c.id = p_call.parent_call_id), p_call.ordinal);
$$;

comment on function _call_position(tool_calls) is 'Position of a call in the model''s response; for a call made by code, that of its execute_code call.';
