-- Recorded runs of other agents as sessions like our own: a work item that is over, its focus, its chain of turns. What is
-- there already is not written again: a file that has grown brings only what is new, a session that begins with a copy of
-- another shares its turns, and somebody who went back makes a branch.

create or replace function session_import(p_run json)
  returns jsonb
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  return _session_import(_storable(p_run));
exception when data_exception or integrity_constraint_violation or program_limit_exceeded then
  -- Others wrote it, and of its parts any may be anything.
  raise exception using errcode = 'WL002', message = 'the recorded run cannot be stored: ' || sqlerrm;
end
$$;

comment on function session_import(json) is
  'Stores a recorded run: {format, sessionId, parentSessionId, prompt, isPromptByHarness, promptParts: [{text, isByHarness, images: [{media_type, data}]}], task, system, model, tools: [name], cwd, spawnedBy, exchanges: [{id, after, at, model, text, thinking, calls: [{id, name, input, result, isError, images, spawns}], usage, said, saidParts, followUp, isFollowUpByHarness, followUpParts, compactSummary, lints}], first, firstAfter, isPart, raw: [{line, reason, content}]}, as work-ledger import reads it from files, whole or (first) part by part. The same run again adds nothing, a longer one what is new; exchanges whose id another session has already are shared with it. The session can be forked and read like one of our own. Returns {work_item_id, session, turns, calls}: what was added. Raises WL002.';

create or replace function session_import(p_format text, p_content text)
  returns jsonb
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_runs jsonb := recorded_runs_parse(p_content);
begin
  if p_format <> v_runs #>> '{0,format}' then
    perform _raise_invalid(format('the content is of format %s, not %s', v_runs #>> '{0,format}', p_format));
  end if;
  return (select jsonb_agg(session_import((jsonb_build_object('sessionId', left(_content_hash(concat(r.value ->> 'prompt', r.value #> '{exchanges,0}')), 12)) || r.value)::json) order by r.n)
            from jsonb_array_elements(v_runs) with ordinality as r(value, n));
end
$$;

comment on function session_import(text, text) is
  'Stores the recorded runs in the content of a file, as work-ledger import does from the file: select session_import(''claude-code'', pg_read_file(''/tmp/session.jsonl'')). p_format: claude-code, codex, copilot, pi, mini-swe-agent, swe-agent, gemini-cli, atif; null: told by the content. Returns a list of what session_import(json) returns, the session first, then its subagents. Needs work-ledger javascript. Raises 0A000 without it, WL002.';

create or replace function _session_import(p_run json)
  returns jsonb
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_run record;
  v_label text;
  v_speaker text;
  v_source text;
  v_said text;
  v_parts json;
  v_config text;
  v_item work_items;
  v_focus foci;
  v_head turns;
  v_parent turns;
  v_before turns;
  v_turn turns;
  v_iteration integer;
  v_left turns;
  v_shared uuid;
  v_exchange record;
  v_id text;
  v_is_known boolean;
  v_total integer;
  v_past integer;
  v_n integer;
  v_at timestamptz;
  v_turns integer := 0;
  v_calls integer := 0;
  v_added integer;
begin
  -- All at once: every look into a document parses all of it.
  select * into v_run
    from json_to_record(p_run) as r(format text, "sessionId" text, "parentSessionId" text, "spawnedBy" text, prompt text, "isPromptByHarness" boolean, "promptParts" json, task text, system text, model text, tools json, cwd text, file text, outcome text,
                                    exchanges json, first integer, "firstAfter" text, "isPart" boolean, raw json);
  if coalesce(v_run."sessionId", '') !~ '\S' or coalesce(v_run.format, '') !~ '\S' or json_typeof(v_run.exchanges) is distinct from 'array' then
    perform _raise_invalid('a recorded run has format, sessionId and exchanges');
  end if;
  v_label := concat_ws(':', v_run.format, v_run."sessionId");
  v_speaker := case when v_run."parentSessionId" is null then 'human' else 'agent' end;
  v_n := coalesce(v_run.first, 0);
  v_total := v_n + json_array_length(v_run.exchanges);
  v_past := v_total - case when v_run."isPart" then 0 else 1 end;
  v_at := coalesce(_recorded_time(v_run.exchanges #>> '{0,at}'), (select min(_recorded_time(e ->> 'at')) from json_array_elements(v_run.exchanges) e), _now());
  select * into v_item
    from _import_item(v_label, coalesce(v_run.task, v_run.prompt), jsonb_strip_nulls(jsonb_build_object('conversationId', v_label, 'format', v_run.format, 'cwd', v_run.cwd, 'file', v_run.file)), v_at);
  perform _import_session(v_run.format, v_run."sessionId", v_run."parentSessionId", v_item.description, v_at);
  update sessions s set spawn_tool_call_id = k.id, parent_turn_id = k.turn_id
    from foci f join tool_calls k on k.work_item_id = f.work_item_id
   where s.label = v_label and s.spawn_tool_call_id is null and f.session_label = concat_ws(':', v_run.format, v_run."parentSessionId") and v_run."spawnedBy" in (k.given_id, k.provider_id);
  insert into foci (work_item_id, attempt, faculty, faculty_hash, session_label, max_tokens, created_at)
  values (v_item.id, 1, 'imported', _import_faculty(), v_label, 32000, v_at)
  on conflict (work_item_id, attempt) do nothing;
  select * into v_focus from foci where work_item_id = v_item.id and attempt = 1;
  v_config := _import_config(v_run.model, v_run.system, v_run.tools);
  v_iteration := v_focus.iteration;
  select t.* into v_head from sessions s join turns t on t.id = s.head_turn_id where s.label = v_label;
  select * into v_parent from turns
   where v_n > 0 and external_id in (v_run.format || ':' || v_run."firstAfter", v_label || '/' || (v_n - 1)) order by focus_id = v_focus.id desc limit 1;
  v_said := v_run.prompt;
  v_source := case when v_run."isPromptByHarness" then 'event' else v_speaker end;
  v_parts := v_run."promptParts";

  for v_exchange in
    select e.*
      from rows from (json_to_recordset(v_run.exchanges) as (
             id text, after text, at text, model text, "compactSummary" text, text text, thinking json, calls json, usage jsonb, said text, "saidParts" json, "followUp" text, "isFollowUpByHarness" boolean, "followUpParts" json, lints jsonb)) with ordinality as e
     order by e.ordinality
  loop
    v_before := v_parent;
    v_added := 0;
    begin
      v_id := coalesce(v_run.format || ':' || v_exchange.id, v_label || '/' || v_n);
      if v_exchange.after is not null then
        v_left := v_parent;
        select * into v_parent from turns where external_id = v_run.format || ':' || v_exchange.after;
        v_said := v_exchange.said;
        v_source := v_speaker;
        v_parts := v_exchange."saidParts";
      else
        v_left := null;
      end if;
      select * into v_turn from turns where external_id in (v_id, v_label || '/' || v_n) order by focus_id = v_focus.id desc limit 1;
      v_is_known := found and (v_turn.focus_id = v_focus.id or v_parent.id is null or v_parent.id in (v_turn.parent_turn_id, (select parent_turn_id from turns where id = v_turn.parent_turn_id and turn_type = 'compaction')));
      if v_is_known then
        if v_turn.focus_id <> v_focus.id then
          v_shared := v_turn.id; -- a copy of another session's, from its beginning
        end if;
        if v_turn.iteration = (select iteration from foci where id = v_turn.focus_id) then
          -- The newest of the last time: results may have come since, and more of the response.
          v_added := _import_response(v_turn, v_exchange.text, v_exchange.thinking, v_exchange.calls, v_n, v_n < v_past);
        end if;
      else
        if v_turns = 0 and v_left.id is null and v_head.id is distinct from v_parent.id then
          v_left := v_head; -- somebody went back since the last time, and the file does not have it any more
        end if;
        perform _import_branch(v_label, v_left);
        v_at := greatest(_recorded_time(v_exchange.at), v_at);
        if v_exchange."compactSummary" is not null and v_parent.id is not null then
          select * into v_parent from _import_compaction(v_item, v_focus, v_parent, v_exchange."compactSummary", v_at);
        end if;
        v_iteration := v_iteration + 1;
        insert into turns (parent_turn_id, fork_turn_id, depth, status, work_item_id, focus_id, iteration, config_hash, elision_id, provider, model, stop_reason, call_count,
                           input_tokens, output_tokens, cached_input_tokens, chain_tokens, external_id, workspace_path, started_at, completed_at)
        values (v_parent.id, _fork_turn(v_parent, v_item.id), coalesce(v_parent.depth + 1, 0), 'completed', v_item.id, v_focus.id, v_iteration, v_config, v_parent.elision_id, v_run.format, coalesce(v_exchange.model, v_run.model), 'tool_use', 1,
                _recorded_count(v_exchange.usage -> 'inputTokens'), _recorded_count(v_exchange.usage -> 'outputTokens'), _recorded_count(v_exchange.usage -> 'cachedInputTokens'),
                coalesce(v_parent.chain_tokens, 0) + (select coalesce(sum(_recorded_count(v_exchange.usage -> k)), 0) from unnest(array['inputTokens', 'outputTokens', 'cachedInputTokens']) k),
                case when v_turn.id is null then v_id else v_label || '/' || v_n end, v_run.cwd, v_at, v_at)
        returning * into v_turn;
        perform _import_said(v_turn, coalesce(v_parts, json_build_array(json_build_object('text', v_said, 'isByHarness', v_source = 'event'))), v_speaker);
        v_added := _import_response(v_turn, v_exchange.text, v_exchange.thinking, v_exchange.calls, v_n, v_n < v_past);
        if v_exchange.lints is not null then
          perform message_lints_save(m.id, v_exchange.lints) from messages m where m.turn_id = v_turn.id and m.role = 'assistant';
        end if;
        v_turns := v_turns + 1;
      end if;
      if position('"spawns"' in v_exchange.calls::text) > 0 then
        perform _import_spawns(v_turn, v_run.format, coalesce(v_run."parentSessionId", v_run."sessionId"), v_exchange.calls, v_n);
      end if;
    exception when data_exception or integrity_constraint_violation or program_limit_exceeded or sqlstate 'WL002' then
      -- One exchange stops no others: it is kept as it came, and what was said before it is said before the next.
      insert into session_records (session_label, line, ordinal, reason, content)
      values (v_label, 0, hashtext(to_json(v_exchange)::text), 'exchange that cannot be stored: ' || sqlerrm, to_json(v_exchange)::text)
      on conflict do nothing;
      v_parent := v_before;
      v_iteration := (select coalesce(max(iteration), 0) from turns where focus_id = v_focus.id);
      v_parts := (select json_agg(p.value) from (select json_array_elements(coalesce(v_parts, json_build_array(json_build_object('text', v_said, 'isByHarness', v_source = 'event'))))
        union all select json_array_elements(coalesce(v_exchange."followUpParts", json_build_array(json_build_object('text', v_exchange."followUp", 'isByHarness', v_exchange."isFollowUpByHarness"))))) as p(value));
      v_n := v_n + 1;
      continue;
    end;
    v_calls := v_calls + v_added;
    v_parent := v_turn;
    v_said := v_exchange."followUp";
    v_source := case when v_exchange."isFollowUpByHarness" then 'event' else v_speaker end;
    v_parts := v_exchange."followUpParts";
    v_n := v_n + 1;
  end loop;

  insert into session_records (session_label, line, ordinal, reason, content)
  select v_label, r.line, case r.line when 0 then hashtext(r.content) else row_number() over (partition by r.line order by r.ordinality) end, r.reason, r.content
    from rows from (json_to_recordset(v_run.raw) as (line integer, reason text, content text)) with ordinality as r
  on conflict do nothing;
  if v_parent.id is not null and (v_turns > 0 or v_head.id is null or (v_focus.iteration = 0 and v_parent.depth > v_head.depth)) then
    perform _session_advance(v_label, v_parent.id);
  end if;
  if v_shared is not null and v_focus.iteration = 0 then
    update work_items set fork_turn_id = v_shared where id = v_item.id;
    update sessions set parent_session_label = _session_of(v_shared), parent_turn_id = v_shared where label = v_label and not is_subagent;
  end if;
  update foci
     set iteration = v_iteration, outcome = 'completed', ended_at = greatest(ended_at, v_parent.completed_at, v_at)
   where id = v_focus.id;
  update work_items set focus_id = v_focus.id, attempts = 1 where id = v_item.id;
  if v_item.resolved_at is null then
    update work_items
       set state = 'completed', resolved_at = coalesce(v_parent.completed_at, v_at), outcome_data = jsonb_build_object('summary', coalesce(v_run.outcome, 'imported'))
     where id = v_item.id;
  end if;
  return jsonb_build_object('work_item_id', v_item.id, 'session', v_label, 'turns', v_turns, 'calls', v_calls);
end
$$;

comment on function _session_import(json) is 'session_import(), whose errors it leaves as they come.';

create or replace function _import_said(p_turn turns, p_parts json, p_speaker text)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  insert into messages (turn_id, sequence, role, source, content, created_at)
  select p_turn.id, row_number() over (order by p.n), 'user', case when (p.value ->> 'isByHarness')::boolean then 'event' else p_speaker end,
         ('[' || concat_ws(',', case when p.value ->> 'text' ~ '\S' then _text_block(_cap_said(p.value ->> 'text', 3000000)) end, _recorded_images(p.value -> 'images')) || ']')::json, p_turn.started_at
    from json_array_elements(p_parts) with ordinality as p(value, n)
   where p.value ->> 'text' ~ '\S' or json_array_length(p.value -> 'images') > 0;
end
$$;

comment on function _import_said(turns, json, text) is 'Stores what the model of a recorded run was told before a turn, each word of a human by itself.';

create or replace function _recorded_time(p_at text)
  returns timestamptz
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  return case when p_at::timestamptz between '2000-01-01 00:00Z' and '2100-01-01 00:00Z' then p_at::timestamptz end;
exception when data_exception then
  return null;
end
$$;

comment on function _recorded_time(text) is 'A recorded time at which an agent may have run; null for any other.';

create or replace function _recorded_count(p_count jsonb)
  returns integer
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select case when jsonb_typeof(p_count) = 'number' and p_count::numeric between 0 and 200000000 then round(p_count::numeric) end::integer;
$$;

comment on function _recorded_count(jsonb) is 'A recorded count of tokens; null for one that cannot be.';
