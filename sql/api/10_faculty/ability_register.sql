-- The registry of what can be called: the tools that agents are offered, and what each call touches.

create or replace function ability_register(
    p_name text,
    p_description text,
    p_input_schema json,
    p_effect text default 'unsafe',
    p_risk text default 'moderate',
    p_function regprocedure default null,
    p_output_schema json default null,
    p_touches json default null,
    p_source text default null,
    p_search_path name[] default current_schemas(false))
  returns abilities
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_function text;
  v_ability abilities;
begin
  p_input_schema := _storable(p_input_schema);
  p_output_schema := _storable(p_output_schema);
  p_touches := _storable(p_touches);
  if p_name is null or p_name !~ '^[a-zA-Z0-9_:-]{1,128}$' then
    perform _raise_invalid(format('"%s" cannot be the name of an ability', p_name), 'Use letters, digits, _, - and :, at most 128 characters.');
  end if;
  if coalesce(p_description, '') !~ '\S' then
    perform _raise_invalid(format('ability "%s" needs a description: it is what the model reads', p_name));
  end if;
  if p_input_schema is null or p_input_schema ->> 'type' is distinct from 'object' then
    perform _raise_invalid(format('the input schema of ability "%s" must be a JSON Schema of type object', p_name));
  end if;
  begin
    p_input_schema := _json_compact(p_input_schema)::json; -- as every request sends it
  exception when statement_too_complex or numeric_value_out_of_range then
    perform _raise_invalid(format('the input schema of ability "%s" cannot be sent in a request: %s', p_name, sqlerrm));
  end;
  perform _check_word('an effect', p_effect, '{pure,idempotent,unsafe}'), _check_word('a risk', p_risk, '{safe,moderate,dangerous}'),
          _check_word('a source', coalesce(p_source, 'web'), '{none,own_test,file,other_agent,web}');
  perform _lock('abilities'); -- several workers may start at once
  select * into v_ability from abilities where tool_name = _tool_name(p_name);
  if v_ability.is_builtin then
    perform _raise_invalid(format('ability "%s" belongs to Work Ledger', v_ability.name), 'Choose another name.');
  end if;
  v_function := _ability_function(p_function);
  begin
    insert into abilities (name, description, input_schema, output_schema, effect, risk, source, implementation, function_name, search_path)
    values (p_name, p_description, p_input_schema, p_output_schema, p_effect, p_risk, coalesce(p_source, 'web'),
            case when v_function is null then 'runtime' else 'sql' end, v_function,
            case when v_function is not null then _ability_path(p_search_path) end)
    on conflict (name) do update
       set description = excluded.description,
           input_schema = excluded.input_schema,
           output_schema = excluded.output_schema,
           effect = excluded.effect,
           risk = excluded.risk,
           source = excluded.source,
           implementation = excluded.implementation,
           function_name = excluded.function_name,
           search_path = excluded.search_path,
           updated_at = _now()
     where (abilities.description, abilities.input_schema::text, abilities.output_schema::text, abilities.effect,
            abilities.risk, abilities.source, abilities.implementation, abilities.function_name, abilities.search_path)
       is distinct from (excluded.description, excluded.input_schema::text, excluded.output_schema::text, excluded.effect,
            excluded.risk, excluded.source, excluded.implementation, excluded.function_name, excluded.search_path)
    returning * into v_ability;
  exception when unique_violation then
    perform _raise_invalid(
      format('models would call ability "%s" by the name %s, which is taken by ability "%s"', p_name, _tool_name(p_name), v_ability.name),
      'Choose another name.');
  end;
  if not found then
    select * into v_ability from abilities where name = p_name;
  end if;
  perform _touch_rules_save(v_ability, p_touches), _ability_tell(p_function);
  return v_ability;
end
$$;

comment on function ability_register(text, text, json, text, text, regprocedure, json, json, text, name[]) is
  'Adds a tool to the registry or changes it, and returns its row; a faculty offers the tool by listing it in engage.tools. p_effect: what a crash does to a call: pure and idempotent calls run again, an unsafe one is reported to the model as uncertain. p_risk: safe, moderate or dangerous; the faculty''s require_approval refers to it. p_function: f(input jsonb) returning text, json or jsonb; it runs in the transaction that stores its result, with work_ledger.work_item_id set, and may call ledger_append() for that item. In a ledger with roles it runs as PREFIXtools: grant that role what it needs; a notice says what is missing. Without a function the worker must provide the tool (TypeScript). p_touches: what a call touches, for the journal, checkpoints, overlap warnings and evidence: [{key, action, kind, when, form}]. key: a key of the input, or key.key within objects and lists of objects; action: read, create, modify, delete or search; kind: path (default), url or record; when: {key: value or list of values}, if it depends on another key; form: patch, if the value is a patch for apply_patch, which names its actions itself. p_touches [] means that calls touch nothing, null that the rules for the tool''s name decide (touch_rules). p_source: where its results come from, so that entries say what fed them (work_ledger.trust): own_test (what the agent itself ran), file, other_agent, web (from outside; the default), none (they tell nothing new). p_search_path: the schemas in which p_function finds what it names without a schema, whoever calls it; default: those of your session, without its temporary one. The ledger''s schema follows. If you are not a member of the ledger''s owner, schemas in which you may create something are left out. a:b and a_b count as the same name. Registering the same again changes nothing. Raises WL002, 42501 (a function that does not belong to the ledger''s owner, by somebody else).';

create or replace function _touch_rules_save(p_ability abilities, p_touches json)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_name text := p_ability.tool_name;
  v_touch jsonb;
  v_rules touch_rules[] := '{}';
begin
  if json_typeof(p_touches) not in ('array', 'null') or json_array_length(case json_typeof(p_touches) when 'array' then p_touches else '[]' end) > 100 then
    perform _raise_invalid(format('the touches of ability "%s" must be a list of at most 100 objects {key, action}', p_ability.name));
  end if;
  for v_touch in
    select value from json_array_elements(case json_typeof(p_touches) when 'array' then p_touches end) with ordinality as t(value, n) order by n
  loop
    v_rules := v_rules || _touch_rule(p_ability, v_touch::jsonb, cardinality(v_rules));
  end loop;
  if json_typeof(p_touches) = 'array' and cardinality(v_rules) = 0 then
    -- A rule that finds nothing, and replaces all other rules for the name.
    v_rules := array[row(v_name, false, 0, '$ ? (1 == 2)', 'name', 'path', 'read', false)::touch_rules];
  end if;
  if v_rules::text is distinct from (select coalesce(array_agg(r order by r.position), '{}')::text
                                       from touch_rules r
                                      where r.tool_name = v_name and not r.is_builtin) then
    delete from touch_rules where tool_name = v_name and not is_builtin;
    insert into touch_rules select * from unnest(v_rules);
  end if;
end
$$;

comment on function _touch_rules_save(abilities, json) is 'Stores p_touches of ability_register() as the rules of the tool. Calls already stored keep their touches. Raises WL002.';

create or replace function _touch_rule(p_ability abilities, p_touch jsonb, p_position integer)
  returns touch_rules
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_form text := coalesce(p_touch ->> 'form', 'name');
  v_kind text := coalesce(p_touch ->> 'kind', 'path');
  v_keys text[] := string_to_array(p_touch ->> 'key', '.');
  v_when text;
  v_wrong text;
begin
  v_wrong := case
    when jsonb_typeof(p_touch) <> 'object' then 'is not an object'
    when exists (select from jsonb_object_keys(p_touch) k where k not in ('key', 'action', 'kind', 'when', 'form')) then 'has an unknown key'
    when jsonb_typeof(p_touch -> 'key') is distinct from 'string' or '' = any (v_keys) or v_keys = '{}' then 'names no key of the input'
    when v_form not in ('name', 'patch') then format('has the form "%s"', v_form)
    when v_kind not in ('path', 'url', 'record') then format('has the kind "%s"', v_kind)
    when v_form = 'patch' and (p_touch ? 'action' or v_kind <> 'path') then 'is a patch, which names its files and actions itself'
    when v_form = 'name' and coalesce(p_touch ->> 'action', '') not in ('read', 'create', 'modify', 'delete', 'search')
      then format('has the action "%s"', p_touch ->> 'action')
    when p_touch ? 'when'
      and (
        jsonb_typeof(p_touch -> 'when') <> 'object'
        or jsonb_path_exists(p_touch, '$.when.*[*] ? (@.type() == "object" || @.type() == "array")')) then 'has a "when" that is not an object of values'
    when jsonb_typeof(p_ability.input_schema::jsonb -> 'properties') = 'object' then
      (select format('names "%s", which its input does not have', k)
         from (select v_keys[1]
               union all
               select jsonb_object_keys(case jsonb_typeof(p_touch -> 'when') when 'object' then p_touch -> 'when' else '{}' end)) n(k)
        where not p_ability.input_schema::jsonb -> 'properties' ? k limit 1)
  end;
  if v_wrong is not null then
    perform _raise_invalid(format('touch %s of ability "%s" %s', p_position + 1, p_ability.name, v_wrong),
      'For example {"key": "path", "action": "modify"}; kind: path, url, record; action: read, create, modify, delete, search; form: name, patch.');
  end if;
  select string_agg('(' || w.any || ')', ' && ') into v_when
    from (select string_agg(format('@.%s == %s', to_jsonb(e.key), v.value), ' || ') as any
            from jsonb_each(p_touch -> 'when') e cross join lateral jsonb_path_query(e.value, '$[*]') v(value)
           group by e.key) w;
  return row(p_ability.tool_name, false, p_position,
             (
               '$' || coalesce(' ? (' || v_when || ')', '')
               || (select string_agg('.' || to_json(k)::text, '' order by n) from unnest(v_keys) with ordinality as u(k, n)))::jsonpath,
             v_form, v_kind, p_touch ->> 'action', false)::touch_rules;
end
$$;

comment on function _touch_rule(abilities, jsonb, integer) is 'One element of p_touches of ability_register() as a rule. Raises WL002.';

create or replace function _tool_name(p_ability text)
  returns text
  language sql
  immutable
  parallel safe
  return replace(p_ability, ':', '_');

comment on function _tool_name(text) is 'An ability''s name in the characters that providers accept.';
