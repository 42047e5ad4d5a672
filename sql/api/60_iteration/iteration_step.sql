-- An iteration in one transaction: the response, its results, what follows, and the next request. If something outside the database has to happen
-- first, such as running a call, the transaction ends there, and the same function is called again.

create or replace function iteration_step(
    p_work_item_id uuid,
    p_lease uuid,
    p_iteration integer,
    p_driven_seconds double precision default null,
    p_turn_id uuid default null,
    p_response json default null,
    p_results json default null,
    p_kept_turn_id uuid default null)
  returns json
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
  set plan_cache_mode = force_generic_plan
as $$
declare
  v_item work_items := _fence(p_work_item_id, p_lease);
  v_focus foci;
  v_config jsonb;
  v_turn turns;
  v_is_new boolean := false;
  v_flags iteration_flags;
  v_calls json := '[]';
  v_waiting json := '[]';
  v_answer json;
begin
  select * into v_focus from foci where id = v_item.focus_id for no key update;
  if p_iteration is null or p_iteration > v_focus.iteration + 1 then
    perform _raise_invalid(format('p_iteration must be the iteration that has just ended: %s', v_focus.iteration + 1));
  end if;
  p_results := _checked_results(p_results);
  v_config := _faculty_config(v_focus);
  if p_response is not null then
    v_turn := _turn_asked(v_focus, p_turn_id);
    v_is_new := v_turn.status <> 'completed';
    v_flags := case when v_is_new then _turn_record(v_item, v_focus, v_config, v_turn, p_response, true, p_results)
                    else _iteration_flags(v_item, v_focus, v_config, v_turn) end;
    if v_is_new and not v_flags.is_limited and v_flags.open_count > 0 and _entries_record(v_item, p_lease, v_turn.id, p_results) then
      v_flags := _iteration_flags(v_item, v_focus, v_config, v_flags.last);
    end if;
    if v_flags.open_count + v_flags.waiting_count > 0 then
      v_calls := _open_calls(v_turn.id);
      v_waiting := _waiting_calls(v_turn.id);
    end if;
    -- Under a budget the function also returns here: budgets are locked after what the end of an iteration locks, so they are charged in a separate
    -- transaction.
    if v_calls::text <> '[]' or v_waiting::text <> '[]' or v_flags.is_limited then
      if v_is_new then
        perform _model_heard(v_flags.last, v_flags.is_cooling);
      end if;
      return json_build_object('kind', 'run_tools', 'turn_id', v_turn.id, 'calls', v_calls, 'waiting', v_waiting);
    end if;
  elsif p_results is not null then
    perform _results_settle(v_item, p_results);
  end if;
  v_answer := _iteration_finish(v_item, v_focus, v_config, p_lease, p_iteration, p_driven_seconds, p_kept_turn_id, case when v_is_new then v_flags end);
  if v_is_new and _is_driven(v_item.id) then
    perform _model_heard(v_flags.last, v_flags.is_cooling); -- after all other locks; an item that was given back has locked its job, and is not sampled
  end if;
  return v_answer;
end
$$;

comment on function iteration_step(uuid, uuid, integer, double precision, uuid, json, json, uuid) is
  'Runs an iteration from its response to the next request, in one transaction: what turn_record(), tool_call_settle(), iteration_finish() and iteration_begin() do, for a worker that has everything at hand. p_response: the response to the request of turn p_turn_id, as for turn_record(). p_results: the results of those of its calls that the worker started before the response was stored, [{ordinal, id (a new uuid), content, is_error, images}], without content if there is no result yet. Only calls of tools that iteration_begin() listed as early, with an ability, may start this way; any other is returned to be run. [{ordinal, id, is_entry: true}]: a call of ledger_append whose input fits the tool''s schema, which is run here, as tool_call_execute() would. If calls must run first, or wait for a person, returns {kind: run_tools, turn_id, calls, waiting}, as turn_record() does: run them, then call this again without a response, with p_results [{id, content, is_error, images}] for those not yet settled. Under a budget, calls may be empty: call it again all the same. Otherwise returns the answer of iteration_finish(): p_iteration is the iteration that is over, p_driven_seconds how long the worker has driven the item; null: it gives the item back. p_kept_turn_id: the turn whose request the caller keeps. If the next request is that one plus more messages at its end, only those are returned: request null, since [messages]; else the whole request. Repeating it changes nothing. Raises WL001, WL002, WL003, WL004, WL008.';

create or replace function _checked_results(p_results json)
  returns json
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if p_results is null then
    return null;
  end if;
  p_results := _storable(p_results);
  if json_typeof(p_results) <> 'array' or exists (
    select from json_array_elements(case json_typeof(p_results) when 'array' then p_results else '[]' end) r
     where case when json_typeof(r) = 'object' then
             not _is_uuid(coalesce(r ->> 'id', '')) or coalesce(json_typeof(r -> 'content'), 'null') not in ('string', 'null')
             or coalesce(json_typeof(r -> 'is_error'), 'null') not in ('boolean', 'null')
             or coalesce(json_typeof(r -> 'is_entry'), 'null') not in ('boolean', 'null')
           else true end) then
    perform _raise_invalid('results must be an array of {id, ordinal, content, is_error, images, is_entry}: id a uuid, content a string, '
      'is_error and is_entry true or false');
  end if;
  return p_results;
end
$$;

comment on function _checked_results(json) is 'Results of calls as iteration_step() gets them, as they can be stored. Raises WL002.';

create or replace function _entries_record(p_item work_items, p_lease uuid, p_turn_id uuid, p_results json)
  returns boolean
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_call tool_calls;
  v_is_any boolean := false;
begin
  for v_call in
    select k.*
      from json_to_recordset(p_results) as r(ordinal text, is_entry boolean)
      join tool_calls k on k.turn_id = p_turn_id and k.parent_call_id is null and k.ordinal::text = r.ordinal and k.status = 'pending'
      join abilities a on a.tool_name = k.tool_name and a.name = 'ledger_append'
     where r.is_entry
     order by k.ordinal
  loop
    if _begins_behind(v_call) = '{}' and _order_kept(v_call, 'engine') = '{}' then
      perform _call_execute(p_item, p_lease, v_call);
      v_is_any := true;
    end if;
  end loop;
  return v_is_any;
end
$$;

comment on function _entries_record(work_items, uuid, uuid, json) is 'Runs those calls of ledger_append in a response that its worker found to fit their schema, p_results as for iteration_step(). Returns whether there were any.';

create or replace function _results_settle(p_item work_items, p_results json)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_result json;
  v_images jsonb;
  v_call tool_calls;
begin
  for v_result in select r from json_array_elements(p_results) r loop
    v_call := _call_of(p_item, (v_result ->> 'id')::uuid);
    v_images := nullif(_jsonb_of(v_result -> 'images'), 'null');
    perform _check_images(v_images);
    if v_call.completed_at is null then
      perform _call_settle(v_call, v_result ->> 'content', (v_result ->> 'is_error')::boolean, v_images);
    end if;
  end loop;
  perform _tell_watchers(p_item);
end
$$;

comment on function _results_settle(work_items, json) is 'Settles calls of an item''s focus, as tool_call_settle() would: [{id, content, is_error, images}].';
