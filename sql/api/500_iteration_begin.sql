create or replace function iteration_begin(p_work_item_id uuid, p_lease uuid)
  returns json
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_item work_items := _fence(p_work_item_id, p_lease);
  v_focus foci;
  v_turn turns;
begin
  select * into v_focus from foci where id = v_item.focus_id;
  update work_items set state = 'running' where id = v_item.id and state <> 'running';
  select * into v_turn from turns where focus_id = v_focus.id and iteration = v_focus.iteration + 1 and status <> 'failed';
  if v_turn.status = 'completed' then
    -- A worker died after the response was stored: no new model call, only the calls that are open.
    perform _recover_calls(v_turn.id);
    return json_build_object('kind', 'run_tools', 'turn_id', v_turn.id, 'calls', _open_calls(v_turn.id));
  end if;
  if v_turn.id is null then
    if v_focus.iteration >= (select (config -> 'engage' ->> 'max_turns')::integer from faculties where content_hash = v_focus.faculty_hash) then
      v_item := _focus_end(v_item, 'failed', 'failed', format('reached max_turns (%s) before the work was done', v_focus.iteration), null);
      return json_build_object('kind', v_item.state, 'reason', v_item.state_reason);
    end if;
    v_turn := _turn_create(v_item, v_focus);
  end if;
  update turns set call_count = call_count + 1 where id = v_turn.id;
  return json_build_object('kind', 'call_model', 'turn_id', v_turn.id, 'request', context_at(v_turn.id));
end
$$;

comment on function iteration_begin(uuid, uuid) is
  'First stage of an iteration: says what the holder of the lease has to do. {kind: call_model, turn_id, request}: send the request and report with turn_record() or iteration_fail(). {kind: run_tools, turn_id, calls}: the response is there already; run the calls left open by a crash, then iteration_finish(). {kind: failed | dead, reason}: no more turns. Raises WL001, WL003, WL004.';

create or replace function _turn_create(p_item work_items, p_focus foci)
  returns turns
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_head turns;
  v_turn turns;
  v_say text;
  v_nudge text;
  v_elision elisions;
begin
  select t.* into v_head from sessions s join turns t on t.id = s.head_turn_id where s.label = p_focus.session_label;
  if v_head.id is not null then
    v_nudge := _nudge(p_item, p_focus, v_head); -- first: the step that it may draft closes a block
    v_elision := _elision_due(p_item, p_focus, v_head);
    insert into elisions select v_elision.* where v_elision.id is distinct from v_head.elision_id;
  end if;
  insert into turns (
    parent_turn_id, depth, work_item_id, focus_id, iteration, config_hash, chain_tokens, block, elision_id)
  values (
    v_head.id, coalesce(v_head.depth + 1, 0), p_item.id, p_focus.id, p_focus.iteration + 1, _turn_config(p_focus),
    coalesce(v_head.chain_tokens, 0), _next_block(v_head), v_elision.id)
  returning * into v_turn;
  v_say := case when v_head.id is null then _orient(p_item, p_focus) else _engine_message(v_head) end;
  if v_say is not null then
    insert into messages (turn_id, sequence, role, source, content)
    values (v_turn.id, 1, 'user', 'engine', ('[' || _text_block(v_say) || ']')::json);
  end if;
  if v_nudge is not null then
    insert into messages (turn_id, sequence, role, source, content, metadata)
    values (v_turn.id, 2, 'user', 'engine', ('[' || _text_block(v_nudge) || ']')::json, '{"kind": "nudge"}');
  end if;
  return v_turn;
end
$$;

comment on function _turn_create(work_items, foci) is 'The pending turn of the next iteration, a child of the session''s head: what is asked is fixed here, before it is asked.';

create or replace function _recover_calls(p_turn_id uuid)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  update tool_calls
     set status = 'uncertain',
         is_error = true,
         completed_at = _now(),
         result = to_json('[engine] The worker running this call died. Whether the call took effect is unknown: it may or may not have happened, wholly or in part. It was not repeated. Check the state of things before you try again.'::text)
   where turn_id = p_turn_id and status = 'running' and effect = 'unsafe';
  update tool_calls set status = 'pending' where turn_id = p_turn_id and status = 'running';
end
$$;

comment on function _recover_calls(uuid) is 'After a crash: unsafe calls that were running become uncertain, the others run again.';

create or replace function _open_calls(p_turn_id uuid)
  returns json
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce(json_agg(json_build_object(
           'id', k.id,
           'name', coalesce(a.name, k.tool_name),
           'input', k.input,
           'input_schema', coalesce(a.input_schema, '{"type": "object"}'),
           'implementation', coalesce(a.implementation, 'runtime')) order by k.ordinal), '[]'::json)
    from tool_calls k
    -- A tool that was taken off the registry meanwhile is still answered: by a worker that says it does not have it.
    left join abilities a on _tool_name(a.name) = k.tool_name
   where k.turn_id = p_turn_id and k.status = 'pending';
$$;

comment on function _open_calls(uuid) is 'The calls of a turn that wait to be run, as the runtime takes them.';
