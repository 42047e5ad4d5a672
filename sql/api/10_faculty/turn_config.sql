-- The part of a request that is the same for all turns of a faculty: model, system prompt, tools. Stored once, by its hash.

create or replace function _turn_config(p_focus foci, p_config jsonb, p_model text default null)
  returns text
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_config text := _config_of(p_focus, p_config, p_model);
  v_hash text := _content_hash(v_config);
begin
  -- Looked for first: a row that is there already would have all its hashes computed again.
  insert into turn_configs (content_hash, config)
  select v_hash, v_config::json where not exists (select from turn_configs where content_hash = v_hash)
  on conflict do nothing;
  return v_hash;
end
$$;

comment on function _turn_config(foci, jsonb, text) is 'Stores the result of _config_of(), once for each distinct content, and returns its hash.';

create or replace function _config_of(p_focus foci, p_config jsonb, p_model text default null)
  returns text
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_tools text;
  v_names text[];
  v_engine text;
  v_own text;
begin
  select string_agg(
           '{"name":' || to_json(a.tool_name)::text
             || ',"description":' || to_json(a.description)::text
             || ',"input_schema":' || a.input_schema::text || '}',
           ',' order by a.n),
         array_agg(a.name)
    into v_tools, v_names
    from (select a.*, row_number() over () as n from _toolset(p_config) a) a;
  v_engine := _engine_prompt(v_names, (p_config -> 'awareness' ->> 'enabled')::boolean);
  v_own := nullif(btrim(coalesce(p_config -> 'engage' ->> 'system_prompt', ''), E' \t\r\n'), '');
  -- Cache breakpoints: one here at the end of the system prompt; one at the end of the last message, by the top-level
  -- cache_control, so that the messages themselves do not change from one request to the next.
  return '{"model":' || to_json(coalesce(p_model, p_config -> 'engage' ->> 'model'))::text
    || ',"max_tokens":' || p_focus.max_tokens
    || ',"cache_control":{"type":"ephemeral"}'
    || ',"system":[' || case when v_own is null then '' else _text_block(v_engine) || ',' end
    || left(_text_block(coalesce(v_own, v_engine)), -1) || ',"cache_control":{"type":"ephemeral"}}]'
    || ',"tools":[' || v_tools || ']'
    || ',"stream":true}';
end
$$;

comment on function _config_of(foci, jsonb, text) is 'Everything in the focus''s next request except its messages, as JSON text. p_model: a model in place of the faculty''s.';

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
    (_faculty_for(p_item.faculty, p_item.work_type)).config,
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
   where (a.implementation = 'engine' or t.n is not null or (a.name = 'execute_code' and (p_config #>> '{engage,code_execution}')::boolean))
     and (p_config #>> '{engage,max_children}' is distinct from '0' or a.name <> all (array['spawn_child_work', 'await_child_work', 'check_child_work']))
   order by a.implementation <> 'engine', case when a.implementation = 'engine' then a.position else coalesce(t.n, 0) end, a.name;
$$;

comment on function _toolset(jsonb) is 'The abilities that a faculty offers: the engine''s own (those for children only if it may have any), execute_code if code_execution is on, then those listed in engage.tools, in that order. A listed ability that is not registered is not offered; see v_missing_tools.';
