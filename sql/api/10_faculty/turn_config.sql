-- The part of a request that is the same for all turns of a faculty: model, system prompt, tools. Stored once, by hash.

create or replace function _turn_config(p_focus foci, p_config jsonb, p_model text default null, p_thinks boolean default true)
  returns text
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_config text := _config_of(p_focus, p_config, p_model, p_thinks);
  v_hash text := _content_hash(v_config);
begin
  -- Check first: inserting a row that already exists would compute all its generated columns again.
  insert into turn_configs (content_hash, config)
  select v_hash, v_config::json where not exists (select from turn_configs where content_hash = v_hash)
  on conflict do nothing;
  return v_hash;
end
$$;

comment on function _turn_config(foci, jsonb, text, boolean) is 'Stores the result of _config_of(), once for each distinct content, and returns its hash.';

create or replace function _config_of(p_focus foci, p_config jsonb, p_model text default null, p_thinks boolean default true)
  returns text
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_schema jsonb := (select _result_schema_of(w) from work_items w where w.id = p_focus.work_item_id);
  v_tools text;
  v_names text[];
  v_engine text;
  v_own text;
  v_model text := coalesce(p_model, p_config -> 'engage' ->> 'model');
  v_cache text := _cache_control(p_config #>> '{engage,cache_ttl}');
begin
  select string_agg(
           '{"name":' || to_json(a.tool_name)::text
             || ',"description":' || to_json(a.description)::text
             || ',"input_schema":' || case when a.name = 'work_complete' and v_schema is not null then _with_result(a.input_schema::jsonb, v_schema)
                                       else a.input_schema::text end || '}',
           ',' order by a.n),
         array_agg(a.name)
    into v_tools, v_names
    from (select a.*, row_number() over () as n from _toolset(p_config) a) a;
  v_engine := _engine_prompt(v_names, (p_config -> 'awareness' ->> 'enabled')::boolean);
  v_own := nullif(btrim(coalesce(p_config -> 'engage' ->> 'system_prompt', ''), E' \t\r\n'), '');
  -- Cache breakpoints: one here, at the end of the system prompt; one at the end of the last message, set by the top-level cache_control, so that the
  -- messages themselves do not change from one request to the next.
  return '{"model":' || to_json(v_model)::text
    || ',"max_tokens":' || p_focus.max_tokens
    || ',"cache_control":' || v_cache
    || _request_options(p_config -> 'engage', v_model, p_focus.max_tokens, v_names, p_thinks)
    || ',"system":[' || case when v_own is null then '' else _text_block(v_engine) || ',' end
    || left(_text_block(coalesce(v_own, v_engine)), -1) || ',"cache_control":' || v_cache || '}]'
    || ',"tools":[' || v_tools || ']'
    || ',"stream":true}';
end
$$;

comment on function _config_of(foci, jsonb, text, boolean) is 'Everything in the focus''s next request except its messages, as JSON text. p_model: a model in place of the faculty''s. p_thinks: see _loop_thinks().';

create or replace function _cache_control(p_ttl text)
  returns text
  language sql
  immutable
  parallel safe
  return case p_ttl when '1h' then '{"type":"ephemeral","ttl":"1h"}' else '{"type":"ephemeral"}' end;

comment on function _cache_control(text) is 'A cache breakpoint as JSON text. All of a request live as long: a provider refuses a longer one behind a shorter one.';

create or replace function _request_options(p_engage jsonb, p_model text, p_max_tokens integer, p_tools text[], p_thinks boolean)
  returns text
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_thinking text := p_engage ->> 'thinking';
  v_choice text := p_engage ->> 'tool_choice';
  v_budget integer := case when jsonb_typeof(p_engage -> 'thinking') = 'number' then least((p_engage ->> 'thinking')::integer, p_max_tokens - 1) end;
begin
  return concat(
    case
      when v_thinking = 'off' then ',"thinking":{"type":"' || coalesce(_model_takes(p_model) ->> 'thinking_off', 'disabled') || '"}'
      when v_thinking = 'adaptive' then ',"thinking":{"type":"adaptive"}'
      when v_budget >= 1024 and p_thinks then ',"thinking":{"type":"enabled","budget_tokens":' || v_budget || '}'
    end,
    ',"output_config":{"effort":"' || (p_engage ->> 'effort') || '"}',
    ',"temperature":' || (p_engage ->> 'temperature'),
    ',"top_p":' || (p_engage ->> 'top_p'),
    case
      when v_choice in ('auto', 'any', 'none') then ',"tool_choice":{"type":"' || v_choice || '"}'
      -- A tool that is not registered is not offered, and cannot be required.
      when v_choice = any (p_tools) then ',"tool_choice":{"type":"tool","name":' || to_json(_tool_name(v_choice))::text || '}'
    end,
    ',"service_tier":"' || (p_engage ->> 'service_tier') || '"',
    case when jsonb_array_length(p_engage -> 'betas') > 0
      then ',"betas":' || (select json_agg(b) from jsonb_array_elements_text(p_engage -> 'betas') b)::text end);
end
$$;

comment on function _request_options(jsonb, text, integer, text[], boolean) is 'What a faculty''s [engage] asks of a model besides its prompt and tools, as JSON text to follow other keys; empty: nothing. betas is no key of the API''s body: the runtime sends it as a header. p_tools: the names of those offered. p_thinks: see _loop_thinks().';

create or replace function _options_of(
    p_config json, out max_tokens integer, out thinking text, out effort text, out temperature numeric, out top_p numeric, out tool_choice text,
    out cache_ttl text, out service_tier text, out betas text[])
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select (p_config ->> 'max_tokens')::integer, coalesce(p_config #>> '{thinking,budget_tokens}', p_config #>> '{thinking,type}'),
         p_config #>> '{output_config,effort}', (p_config ->> 'temperature')::numeric, (p_config ->> 'top_p')::numeric,
         coalesce(p_config #>> '{tool_choice,name}', p_config #>> '{tool_choice,type}'), p_config #>> '{cache_control,ttl}', p_config ->> 'service_tier',
         (select array_agg(b order by n) from json_array_elements_text(p_config -> 'betas') with ordinality as l(b, n));
$$;

comment on function _options_of(json) is 'What a request asked of the model besides its messages, prompt and tools, from turn_configs.config; null: nothing was asked.';

create or replace function _faculty_config(p_focus foci)
  returns jsonb
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select config || '{}' from faculties where content_hash = p_focus.faculty_hash;
$$;

comment on function _faculty_config(foci) is 'The configuration with which a focus started. Each stage reads it once and passes it on. "|| ''{}''" decompresses it once; the stored value would be decompressed at each access.';

create or replace function _faculty_config(p_focus_id uuid)
  returns jsonb
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select _faculty_config(f) from foci f where f.id = p_focus_id;
$$;

comment on function _faculty_config(uuid) is 'The same, for who has not read the focus.';

create or replace function _config_of(p_item work_items)
  returns jsonb
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce(
    _faculty_config(p_item.focus_id),
    (_faculty_for(p_item.faculty, p_item.work_type, _project_now(p_item.project))).config,
    _faculty_defaults());
$$;

comment on function _config_of(work_items) is 'The configuration of the faculty that works on an item, or would; the defaults if no faculty does.';

create or replace function _toolset(p_config jsonb)
  returns setof abilities
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select a.*
    from abilities a
    left join jsonb_array_elements_text(p_config -> 'engage' -> 'tools') with ordinality as t(name, n) on t.name = a.name
   where (a.implementation = 'engine' or t.n is not null or (a.name = 'execute_code' and (p_config #>> '{engage,code_execution}')::boolean)
          or (a.name = 'memory' and a.is_builtin and (p_config ->> 'memory')::boolean))
     and (p_config #>> '{engage,max_children}' is distinct from '0' or a.name <> all (array['spawn_child_work', 'await_child_work', 'check_child_work']))
   order by a.implementation <> 'engine', case when a.implementation = 'engine' then a.position else coalesce(t.n, 0) end, a.name;
$$;

comment on function _toolset(jsonb) is 'The abilities that a faculty offers: the engine''s own (those for children only if it may have any), execute_code if code_execution is on, memory if that is on, then those listed in engage.tools, in that order. A listed ability that is not registered is not offered; see v_missing_tools.';

create or replace function _with_result(p_input_schema jsonb, p_schema jsonb)
  returns text
  language sql
  immutable
  parallel safe
  return _json_compact(jsonb_set(jsonb_set(p_input_schema, '{properties,result}', p_schema), '{required}', p_input_schema -> 'required' || '["result"]')::json);

comment on function _with_result(jsonb, jsonb) is 'The input of work_complete for work whose result has a schema, as its agent is offered it.';
