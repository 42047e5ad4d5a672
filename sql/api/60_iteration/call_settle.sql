-- Ends a call: what the model is shown of its result, and what is stored as an artifact.

create or replace function _call_settle(p_call tool_calls, p_content text, p_is_error boolean, p_images jsonb default null, p_whole text default null)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  p_call := _call_ended(p_call, p_content, p_is_error, p_images, p_whole, _max_result_chars(p_call));
  update tool_calls
     set status = p_call.status,
         is_error = p_call.is_error,
         attempts = p_call.attempts,
         started_at = p_call.started_at,
         artifact_hash = p_call.artifact_hash,
         -- In the same update: a second one in the transaction would check the row's foreign keys again, and lock after budgets and jobs.
         spawned_work_item_id = (select id from work_items where parent_id = p_call.work_item_id and spawn_tool_call_id = p_call.id order by id limit 1),
         is_truncated = p_call.is_truncated,
         warning = null,
         result = p_call.result,
         completed_at = p_call.completed_at
   where id = p_call.id;
  -- When code has ended, none of its calls stays open.
  if p_call.tool_name = 'execute_code' then
    perform _calls_stop(array(select k.id from tool_calls k where k.turn_id = p_call.turn_id and k.parent_call_id = p_call.id and k.completed_at is null),
                        '[engine] Stopped: the code that called it ended.');
  end if;
end
$$;

comment on function _call_settle(tool_calls, text, boolean, jsonb, text) is 'Stores the result of a call; the caller has checked the lease. Arguments as for _call_ended().';

create or replace function _call_ended(
    p_call tool_calls,
    p_content text,
    p_is_error boolean,
    p_images jsonb,
    p_whole text,
    p_max_chars integer)
  returns tool_calls
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_row json := json_build_object('turn_id', p_call.turn_id);
  v_given text := p_whole;
  v_content text;
  v_whole text;
begin
  -- Redact before hashing or cutting, so that a handle in the text is that of the stored, redacted whole. What is stored as it came is
  -- checked by the trigger on its row.
  if p_whole is not null or char_length(p_content) > p_max_chars then
    p_whole := _redact_text(p_whole, 'tool_calls', v_row);
    if p_whole <> v_given then
      p_content := replace(p_content, left(_content_hash(v_given), 16), left(_content_hash(p_whole), 16));
    end if;
    p_content := _redact_text(p_content, 'tool_calls', v_row);
  end if;
  v_content := coalesce(nullif(p_content, ''), case when p_images is null or p_images = '[]' then '(no output)' end);
  p_call.artifact_hash := null;
  if p_whole is not null then
    v_whole := _cap_text(p_whole, 33554000);
    p_call.artifact_hash := _artifact_store(p_call.work_item_id, v_whole);
  end if;
  if char_length(v_content) > p_max_chars then
    if v_whole is not null then
      v_content := _cap_text(v_content, p_max_chars);
    elsif p_call.parent_call_id is null and exists (select from abilities where tool_name = p_call.tool_name and implementation = 'engine') then
      v_content := _cap_text(v_content, p_max_chars); -- read from the ledger, where it can be read again
    else
      v_whole := _cap_text(v_content, 33554000);
      p_call.artifact_hash := _artifact_store(p_call.work_item_id, v_whole);
      v_content := _excerpt(v_whole, p_max_chars);
    end if;
  end if;
  v_content := nullif(concat_ws(E'\n', p_call.warning, v_content), '');
  p_call.status := case when p_is_error then 'failed' else 'completed' end;
  p_call.is_error := coalesce(p_is_error, false);
  p_call.is_truncated := coalesce(v_whole <> coalesce(p_whole, p_content), false);
  if p_images is null or p_images = '[]' then
    p_call.result := to_json(v_content);
  else
    p_call.result := ('[' || concat_ws(',', case when not _is_blank(v_content) then _text_block(v_content) end, (
      select string_agg(_image_store(p_call.work_item_id, i.value ->> 'media_type', i.value ->> 'data', i.value ->> 'artifact'), ',' order by i.n)
        from jsonb_array_elements(p_images) with ordinality as i(value, n))) || ']')::json;
  end if;
  p_call.completed_at := _now();
  return p_call;
end
$$;

comment on function _call_ended(tool_calls, text, boolean, jsonb, text, integer) is
  'A call as it will be written once it has ended; what is too long for its row is stored as an artifact. p_images: [{media_type, data}] or, for images already stored, [{media_type, artifact}]. p_whole: the whole output behind p_content, stored as an artifact. p_max_chars: the most that the model is shown.';

create or replace function _max_result_chars(p_call tool_calls)
  returns integer
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select _max_result_chars(f.config)
    from turns t
    join foci o on o.id = t.focus_id
    join faculties f on f.content_hash = o.faculty_hash
   where t.id = p_call.turn_id;
$$;

comment on function _max_result_chars(tool_calls) is 'The most characters of a call''s output that the model is shown: the faculty''s max_result_chars.';

create or replace function _max_result_chars(p_config jsonb)
  returns integer
  language sql
  immutable
  parallel safe
  return coalesce((p_config -> 'engage' ->> 'max_result_chars')::integer, 50000);

comment on function _max_result_chars(jsonb) is 'The same, for who has the faculty''s configuration.';

create or replace function _call_of(p_item work_items, p_tool_call_id uuid)
  returns tool_calls
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_call tool_calls;
begin
  select k.* into v_call
    from tool_calls k
    join turns t on t.id = k.turn_id
   where k.id = p_tool_call_id and t.focus_id = p_item.focus_id
     for no key update of k;
  if not found then
    perform _raise_not_found('tool call of this focus', p_tool_call_id);
  end if;
  return v_call;
end
$$;

comment on function _call_of(work_items, uuid) is 'A tool call of the item''s current focus, its row locked. Raises WL001.';
