-- Records the response to a request, once, with its calls.

create or replace function turn_record(
    p_work_item_id uuid,
    p_lease uuid,
    p_turn_id uuid,
    p_response json,
    p_begins boolean default false)
  returns json
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
  set plan_cache_mode = force_generic_plan
as $$
declare
  v_item work_items := _fence(p_work_item_id, p_lease);
  v_focus foci;
  v_turn turns;
  v_flags iteration_flags;
begin
  select * into v_focus from foci where id = v_item.focus_id for no key update;
  v_turn := _turn_asked(v_focus, p_turn_id);
  if v_turn.status <> 'completed' then
    v_flags := _turn_record(v_item, v_focus, _faculty_config(v_focus), v_turn, p_response, p_begins);
    perform _model_heard(v_flags.last, v_flags.is_cooling);
  end if;
  return json_build_object('calls', _open_calls(v_turn.id), 'waiting', _waiting_calls(v_turn.id));
end
$$;

comment on function turn_record(uuid, uuid, uuid, json, boolean) is
  'Stores a complete response of the model, its usage and its tool calls in one transaction, and moves the session''s head. p_response: {id, provider, model, content: [blocks], stop_reason, stop_details, usage: {input_tokens, output_tokens, cached_input_tokens, cache_write_tokens, reasoning_tokens}, request_id, duration_ms, first_token_ms}. Returns {calls: [{id, ordinal, name, is_begun, input, is_cleared, input_schema, implementation, behind, code_tools}], waiting: [{id, ordinal, input}]}. calls: to be run now, in parallel, each after those in behind have ended; is_begun: tool_call_begin() is not needed; is_cleared: its before_tool hook has run; code_tools: what the code of execute_code may call. waiting: calls that wait for approval, or for one that does; a later iteration_begin() returns them. Calls of unknown tools and calls cut off by the output limit are settled here and not returned. p_begins: calls that may run again after a crash (pure, idempotent) and that wait for nothing begin with the response. Recording the same turn again changes nothing. Raises WL001, WL002, WL003, WL004.';

create or replace function _turn_asked(p_focus foci, p_turn_id uuid)
  returns turns
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_turn turns;
begin
  select * into v_turn from turns where id = p_turn_id and focus_id = p_focus.id and turn_type = 'normal';
  if not found then
    perform _raise_not_found('turn of this focus', p_turn_id);
  end if;
  return v_turn;
end
$$;

comment on function _turn_asked(foci, uuid) is 'A turn of a focus whose request a worker answers. Raises WL001.';

create or replace function _turn_record(
    p_item work_items,
    p_focus foci,
    p_config jsonb,
    p_turn turns,
    p_response json,
    p_begins boolean,
    p_results json default null)
  returns iteration_flags
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_turn turns;
  v_kinds text[];
  v_flags iteration_flags;
begin
  p_response := _storable(p_response);
  if json_typeof(p_response -> 'content') is distinct from 'array' or p_response ->> 'stop_reason' is null then
    perform _raise_invalid('a response needs content, an array of blocks, and a stop_reason');
  end if;

  v_turn := _turn_answered(p_turn.id, 'completed', p_response, _try_json((p_response -> 'stop_details')::text));
  perform _turn_heard(v_turn) where exists (select from messages where turn_id = v_turn.id and role = 'user');
  v_kinds := _response_store(v_turn, p_config, p_response -> 'content', p_begins, p_results);
  if _claims_are_due(p_item, p_config, v_kinds) then
    perform _calls_claim(p_item, p_config, v_turn.id);
  end if;
  if p_focus.model_error_count > 0 or p_focus.overflow_count > 0 then
    update foci set model_error_count = 0, overflow_count = 0 where id = p_focus.id;
  end if;
  perform _session_advance(p_focus.session_label, v_turn.id);
  v_flags := _iteration_flags(p_item, p_focus, p_config, v_turn);
  if v_flags.is_limited or v_turn.reserved_tokens is not null then
    perform _turn_charge(v_turn);
  end if;
  if p_begins and v_flags.open_count + v_flags.waiting_count > 1 then
    perform _calls_begin(v_turn, p_config);
  end if;
  if v_flags.is_watched then
    perform _watchers_told(p_item);
  end if;
  return v_flags;
end
$$;

comment on function _turn_record(work_items, foci, jsonb, turns, json, boolean, json) is
  'Stores the response to a turn''s request, for turn_record() and iteration_step(), which do so once. The caller holds the locks on fence and focus, and calls _model_heard() last. p_results as for _response_store(). Returns the flags after it.';

create or replace function _model_heard(p_turn turns, p_is_cooling boolean)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_parent turns;
  v_chars integer;
  v_tokens integer;
begin
  if p_is_cooling then
    update models set cooldown_ends_at = null, cooldown_reason = null
     where name = (select model from turn_configs where content_hash = p_turn.config_hash) and cooldown_ends_at <= _now();
  end if;
  -- For a well-known model, every fourth turn is enough, a different one for each item, since all items share the model's row.
  select * into v_parent from turns
   where id = p_turn.parent_turn_id
     and not ((p_turn.iteration + get_byte(uuid_send(p_turn.work_item_id), 15)) % 4 > 0
              and exists (select from models m where m.name = p_turn.model and m.sample_count >= 100));
  -- If a request begins with the whole previous one, the difference is the response, whose tokens the provider counted, and the results, which are
  -- measured here.
  if p_turn.model is null or _input_total(p_turn) = 0 or _input_total(v_parent) = 0 or v_parent.model is distinct from p_turn.model
    or v_parent.turn_type <> 'normal' or v_parent.elision_id is distinct from p_turn.elision_id
    or v_parent.config_hash is distinct from p_turn.config_hash then
    return;
  end if;
  v_chars := _results_chars(v_parent.id) + char_length(_query_blocks(p_turn.id));
  v_tokens := _input_total(p_turn) - _input_total(v_parent) - coalesce(v_parent.output_tokens, 0);
  if v_chars < 1000 or v_tokens::double precision / v_chars not between 0.1 and 1.2 then
    return; -- too short to measure, or not a plausible count
  end if;
  loop
    -- The update above may have locked another model's row, so this does not wait for its lock.
    update models m
       set sample_chars = case when m.sample_chars > 1000000 then m.sample_chars / 2 else m.sample_chars end + v_chars,
           sample_tokens = case when m.sample_chars > 1000000 then m.sample_tokens / 2 else m.sample_tokens end + v_tokens,
           sample_count = m.sample_count + 1,
           updated_at = _now()
     where m.name = (select l.name from models l where l.name = p_turn.model for no key update skip locked);
    exit when found;
    exit when exists (select from models where name = p_turn.model); -- another transaction has locked the row: this sample is dropped
    perform model_save(p_turn.model);
  end loop;
end
$$;

comment on function _model_heard(turns, boolean) is 'Records what an answered turn shows about its model: that it answers again (p_is_cooling: the faculty''s model has a cooldown), and how many tokens its text has. Locks models, so it must be the last thing a transaction does.';

create or replace function _turn_heard(p_turn turns)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  perform _shown_note(p_turn.focus_id, p_turn.id, m.context -> 'shown', m.created_at)
     from messages m
    where m.turn_id = p_turn.id and m.role = 'user' and m.context ? 'shown';
  update foci f
     set nudge_iteration = p_turn.iteration, unheeded_nudge_count = (m.metadata ->> 'unheeded')::integer
    from messages m
   where f.id = p_turn.focus_id and m.turn_id = p_turn.id and m.metadata ->> 'kind' = 'nudge';
end
$$;

comment on function _turn_heard(turns) is
  'Records what the request of an answered turn told the model: ledger entries of others, a reminder. A request that was given up told nothing; the next one tells it again.';

create or replace function _turn_answered(p_turn_id uuid, p_status text, p_response json, p_error jsonb)
  returns turns
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_usage json := p_response -> 'usage';
  v_input integer := _count('usage.input_tokens', v_usage ->> 'input_tokens');
  v_output integer := _count('usage.output_tokens', v_usage ->> 'output_tokens');
  v_cached integer := _count('usage.cached_input_tokens', v_usage ->> 'cached_input_tokens');
  v_written integer := _count('usage.cache_write_tokens', v_usage ->> 'cache_write_tokens');
  v_turn turns;
begin
  update turns
     set status = p_status,
         completed_at = _now(),
         provider = coalesce(r.provider, 'anthropic'),
         model = r.model,
         stop_reason = r.stop_reason,
         response_id = r.id,
         request_id = r.request_id,
         duration_ms = _count('duration_ms', r.duration_ms),
         first_token_ms = _count('first_token_ms', r.first_token_ms),
         error = coalesce(nullif(p_error, 'null'), turns.error),
         input_tokens = v_input,
         output_tokens = v_output,
         cached_input_tokens = v_cached,
         cache_write_tokens = v_written,
         reasoning_tokens = _count('usage.reasoning_tokens', v_usage ->> 'reasoning_tokens'),
         chain_tokens = chain_tokens + coalesce(v_input, 0) + coalesce(v_output, 0) + coalesce(v_cached, 0) + coalesce(v_written, 0)
    -- One pass over the response, which may be long.
    from json_to_record(coalesce(p_response, '{}')) as r(
           provider text, model text, stop_reason text, id text, request_id text, duration_ms text, first_token_ms text)
   where turns.id = p_turn_id
  returning turns.* into v_turn;
  perform _usage_add(v_turn);
  return v_turn;
end
$$;

comment on function _turn_answered(uuid, text, json, jsonb) is 'Stores what came with a response in its turn, once. The caller then charges the budgets with _turn_charge().';
