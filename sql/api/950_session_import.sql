-- Recorded runs of other agents as sessions like our own: a work item that is over, its focus, its chain of turns. What is
-- there already is not written again, so that a file that has grown brings only what is new.

create or replace function session_import(p_run json)
  returns jsonb
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_label text := concat_ws(':', p_run ->> 'format', p_run ->> 'sessionId');
  v_item work_items;
  v_focus foci;
  v_config text;
  v_last turns;
  v_elision uuid;
  v_known integer;
  v_exchange json;
  v_said text := p_run ->> 'prompt';
  v_at timestamptz;
  v_n integer;
  -- Taken out once: every look into the document parses all of it.
  v_format text := p_run ->> 'format';
  v_model text := p_run ->> 'model';
  v_cwd text := p_run ->> 'cwd';
  v_total integer;
  v_calls integer := 0;
  v_results integer := 0;
  v_count record;
begin
  if coalesce(p_run ->> 'sessionId', '') !~ '\S' or coalesce(p_run ->> 'format', '') !~ '\S' or json_typeof(p_run -> 'exchanges') is distinct from 'array' then
    perform _raise_invalid('a recorded run has format, sessionId and exchanges');
  end if;
  v_total := json_array_length(p_run -> 'exchanges');
  v_at := coalesce((p_run #>> '{exchanges,0,at}')::timestamptz, _now());
  insert into work_items (id, root_id, work_type, description, params, external_id, source, state, created_at, started_at)
  select n.id, n.id, 'import', coalesce(nullif(_cap_text(p_run ->> 'prompt', 60000), ''), '(The record has no prompt.)'),
         jsonb_strip_nulls(jsonb_build_object('conversationId', v_label, 'format', p_run ->> 'format', 'cwd', p_run ->> 'cwd', 'file', p_run ->> 'file')), 'import:' || v_label, 'event', 'created', v_at, v_at
    from (select _uuidv7() as id) n
  on conflict (external_id) where external_id is not null do nothing;
  select * into v_item from work_items where external_id = 'import:' || v_label for update;
  select * into v_focus from foci where work_item_id = v_item.id;
  if not found then
    insert into sessions (label, origin, origin_session_id, is_subagent, parent_session_label, task_description, created_at, updated_at)
    values (v_label, p_run ->> 'format', p_run ->> 'sessionId', p_run ->> 'sessionId' like '%#%',
            (select label from sessions where label = split_part(v_label, '#', 1) and label <> v_label), _one_line(v_item.description, 240), v_at, v_at);
    insert into foci (work_item_id, attempt, faculty, faculty_hash, session_label, max_tokens, created_at)
    values (v_item.id, 1, 'imported', _import_faculty(), v_label, 32000, v_at)
    returning * into v_focus;
  end if;
  v_config := _import_config(p_run);
  select t.* into v_last from sessions s join turns t on t.id = s.head_turn_id where s.label = v_label;
  select count(*), (array_agg(elision_id order by depth desc))[1] into v_known, v_elision from turns where focus_id = v_focus.id and turn_type = 'normal';

  for v_exchange, v_n in select e.value, e.n - 1 from json_array_elements(p_run -> 'exchanges') with ordinality as e(value, n) where e.n >= v_known order by e.n loop
    if v_n = v_known - 1 then
      -- The newest turn of the last time: results may have come since, and more of the response.
      select * into v_count from _import_calls(v_last, v_exchange, v_n, v_n < v_total - 1);
    else
      v_at := greatest(coalesce((v_exchange ->> 'at')::timestamptz, v_at), v_at);
      if v_exchange ->> 'compactSummary' is not null and v_last.id is not null then
        select * into v_last from _import_compaction(v_item, v_focus, v_last, v_exchange ->> 'compactSummary', v_at);
        v_elision := v_last.elision_id;
      end if;
      insert into turns (parent_turn_id, depth, status, work_item_id, focus_id, iteration, config_hash, elision_id, provider, model, stop_reason, call_count,
                         input_tokens, output_tokens, cached_input_tokens, chain_tokens, external_id, workspace_path, started_at, completed_at)
      values (v_last.id, coalesce(v_last.depth + 1, 0), 'completed', v_item.id, v_focus.id, v_n + 1, v_config, v_elision, v_format, v_model, 'tool_use', 1,
              (v_exchange #>> '{usage,inputTokens}')::numeric, (v_exchange #>> '{usage,outputTokens}')::numeric, (v_exchange #>> '{usage,cachedInputTokens}')::numeric,
              coalesce(v_last.chain_tokens + v_last.total_tokens, 0), v_label || '/' || v_n, v_cwd, v_at, v_at)
      returning * into v_last;
      if v_said ~ '\S' then
        insert into messages (turn_id, sequence, role, source, content, created_at)
        values (v_last.id, 1, 'user', 'human', ('[' || _text_block(_cap_text(v_said, 3000000)) || ']')::json, v_at);
      end if;
      select * into v_count from _import_calls(v_last, v_exchange, v_n, v_n < v_total - 1);
    end if;
    v_calls := v_calls + v_count.calls;
    v_results := v_results + v_count.results;
    v_said := v_exchange ->> 'followUp';
  end loop;
  if v_last.id is distinct from (select head_turn_id from sessions where label = v_label) then
    perform _session_advance(v_label, v_last.id);
  end if;
  v_n := v_total - v_known;
  update foci set iteration = greatest(iteration, v_total), outcome = 'completed', ended_at = coalesce(ended_at, v_last.completed_at, v_at) where id = v_focus.id;
  update work_items set focus_id = v_focus.id, attempts = 1 where id = v_item.id;
  if v_item.resolved_at is null then
    update work_items
       set state = 'completed', resolved_at = coalesce(v_last.completed_at, v_at), outcome_data = jsonb_build_object('summary', coalesce(p_run ->> 'outcome', 'imported'))
     where id = v_item.id;
  end if;
  return jsonb_build_object('work_item_id', v_item.id, 'session', v_label, 'turns', greatest(v_n, 0), 'calls', v_calls, 'results', v_results);
end
$$;

comment on function session_import(json) is
  'Stores a recorded run: {format, sessionId, prompt, system, model, cwd, exchanges: [{at, text, thinking, calls: [{id, name, input, result, isError}], usage, followUp, compactSummary}]}, as work-ledger import reads it from files. The same run again adds nothing, a longer one what is new. The session can be forked and read like one of our own. Returns {work_item_id, session, turns, calls, results}: what was added. Raises WL002.';

create or replace function _import_faculty()
  returns text
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_hash text := (select content_hash from faculties where name = 'imported' and is_current);
begin
  if v_hash is null then
    perform faculty_save('{"name": "imported", "engage": {"workspace": "none"}}');
    select content_hash into v_hash from faculties where name = 'imported' and is_current;
  end if;
  return v_hash;
end
$$;

comment on function _import_faculty() is 'The faculty under which imported sessions are stored; it takes no work.';

create or replace function _import_config(p_run json)
  returns text
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_config text := '{"model":' || to_json(coalesce(p_run ->> 'model', 'unknown'))::text || ',"max_tokens":32000'
    || case when p_run ->> 'system' ~ '\S' then ',"system":[' || _text_block(p_run ->> 'system') || ']' else '' end
    || coalesce((select ',"tools":[' || string_agg('{"name":' || to_json(name)::text || ',"description":"","input_schema":{"type":"object"}}', ',' order by name) || ']'
                   from (select distinct c ->> 'name' as name from json_array_elements(p_run -> 'exchanges') e, json_array_elements(e -> 'calls') c) n), '') || '}';
  v_hash text := _content_hash(v_config);
begin
  insert into turn_configs (content_hash, config) values (v_hash, v_config::json) on conflict do nothing;
  return v_hash;
end
$$;

comment on function _import_config(json) is 'What is known of the requests of a recorded run besides their messages: model, system prompt, names of tools.';

create or replace function _import_calls(p_turn turns, p_exchange json, p_n integer, p_is_past boolean, out calls integer, out results integer)
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_known integer := (select count(*) from tool_calls where turn_id = p_turn.id);
  v_message uuid;
  v_parts integer := (select count(*) from messages where turn_id = p_turn.id and role = 'assistant');
  v_blocks text;
begin
  -- What the model wrote: all of it, or the calls that came since.
  select string_agg(b.block, ',' order by b.n, b.m)
    into v_blocks
    from (
      select 1 as n, t.m, json_build_object('type', 'thinking', 'thinking', t.value ->> 'thinking', 'signature', t.value ->> 'signature')::text as block
        from json_array_elements(p_exchange -> 'thinking') with ordinality as t(value, m) where v_parts = 0 and coalesce(t.value ->> 'signature', '') <> ''
      union all select 2, 1, _text_block(p_exchange ->> 'text') where v_parts = 0 and p_exchange ->> 'text' ~ '\S'
      union all select 3, c.m, '{"type":"tool_use","id":' || to_json(_import_call_id(c.value, p_n, c.m))::text || ',"name":' || (c.value -> 'name')::text || ',"input":' || (c.value -> 'input')::text || '}'
        from json_array_elements(p_exchange -> 'calls') with ordinality as c(value, m) where c.m > v_known
    ) b;
  if v_blocks is not null then
    insert into messages (turn_id, sequence, role, content, created_at) values (p_turn.id, 1000 + v_parts, 'assistant', ('[' || v_blocks || ']')::json, p_turn.started_at) returning id into v_message;
  end if;
  insert into tool_calls (turn_id, ordinal, work_item_id, message_id, provider_id, tool_name, input, effect, created_at)
  select p_turn.id, c.m - 1, p_turn.work_item_id, v_message, _import_call_id(c.value, p_n, c.m), c.value ->> 'name', c.value -> 'input', 'unsafe', p_turn.started_at
    from json_array_elements(p_exchange -> 'calls') with ordinality as c(value, m)
   where c.m > v_known;
  get diagnostics calls = row_count;
  update tool_calls k
     set status = case when c.value ->> 'result' is null or (c.value ->> 'isError')::boolean then 'failed' else 'completed' end,
         result = to_json(coalesce(c.value ->> 'result', '[engine] The record has no result for this call.')),
         is_error = c.value ->> 'result' is null or (c.value ->> 'isError')::boolean,
         attempts = 1, started_at = p_turn.started_at, completed_at = p_turn.completed_at
    from json_array_elements(p_exchange -> 'calls') with ordinality as c(value, m)
   where k.turn_id = p_turn.id and k.ordinal = c.m - 1 and k.completed_at is null and (c.value ->> 'result' is not null or p_is_past);
  select count(*) into results from json_array_elements(p_exchange -> 'calls') c where c ->> 'result' is not null;
end
$$;

comment on function _import_calls(turns, json, integer, boolean) is 'Stores the response of a recorded exchange and its calls, as far as they are not there; a call without a result stays open while it is the newest, else it has failed.';

create or replace function _import_call_id(p_call json, p_n integer, p_m bigint)
  returns text
  language sql
  immutable
  parallel safe
  return coalesce(p_call ->> 'id', format('import_%s_%s', p_n, p_m));

comment on function _import_call_id(json, integer, bigint) is 'The id of a recorded call, or one by its place.';

create or replace function _import_compaction(p_item work_items, p_focus foci, p_last turns, p_summary text, p_at timestamptz)
  returns turns
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_turn turns;
  v_id uuid := _uuidv7();
  v_root uuid := (select id from turn_ancestry(p_last.id) limit 1);
begin
  insert into elisions (id, ordinal, work_item_id, focus_id, iteration, depth, root_turn_id, last_turn_id, first_block, last_block, last_seq, stubs, tokens_elided, tokens_kept, stub_tokens, summary, created_at)
  values (v_id, 0, p_item.id, p_focus.id, p_last.iteration + 1, p_last.depth + 2, v_root, p_last.id, 1, 0, 0, ('[' || _text_block(p_summary) || ']')::json,
          coalesce(p_last.input_tokens, 0) + coalesce(p_last.cached_input_tokens, 0), 0, _tokens(char_length(p_summary), p_last.model), p_summary, p_at);
  insert into turns (parent_turn_id, depth, turn_type, work_item_id, focus_id, chain_tokens, elision_id, started_at)
  values (p_last.id, p_last.depth + 1, 'compaction', p_item.id, p_focus.id, p_last.chain_tokens + p_last.total_tokens, v_id, p_at)
  returning * into v_turn;
  insert into compactions (turn_id, work_item_id, compaction_type, trigger, is_applied, elision_id, summarized_through_turn_id, turns_summarized, tokens_before, summary_tokens, created_at)
  values (v_turn.id, p_item.id, 'summary', 'context_limit', true, v_id, p_last.id, p_last.depth + 1, coalesce(p_last.input_tokens, 0) + coalesce(p_last.cached_input_tokens, 0), _tokens(char_length(p_summary), p_last.model), p_at);
  update turns set status = 'completed', completed_at = p_at where id = v_turn.id returning * into v_turn;
  return v_turn;
end
$$;

comment on function _import_compaction(work_items, foci, turns, text, timestamptz) is 'A compaction of a recorded run: from here on its summary stands for all before.';
