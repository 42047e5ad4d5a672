-- Faculties: the TOML of the design, as jsonb with every key present.

create or replace function _faculty_defaults()
  returns jsonb
  language sql
  immutable
  parallel safe
  return '{
    "name": null,
    "accepts": [],
    "role": "unified",
    "persona": null,
    "max_concurrent": null,
    "orient": {"command": null, "timeout": 60, "on_failure": "fail"},
    "engage": {
      "mode": "builtin", "command": null, "command_timeout": 3600, "check_command": null, "check_timeout": 600,
      "model": "claude-sonnet-5-5", "fallback_model": null, "system_prompt": null, "system_prompt_file": null,
      "tools": [], "toolset": null, "max_turns": 50, "max_output_tokens": 32000,
      "parallel_tool_execution": true, "max_parallel_tools": 8,
      "compact_threshold": 0.7, "compact_keep_recent": 10, "compact_strategy": "ledger", "compact_every": 0, "compact_model": null, "context_window": 0, "ledger_nudge_interval": 5, "stall_limit": 8,
      "truncate_closed_blocks": true, "truncate_processed_results": true, "elide_budget": 15000, "keep_budget": 16000, "keep_auto": 4000, "max_result_chars": 50000,
      "require_approval": "never", "approval_timeout": 86400,
      "max_children": 20, "max_descendants": 100,
      "workspace": "container", "workspace_dir": null, "workspace_image": "work-ledger-sandbox", "workspace_memory": "1g",
      "workspace_cpus": 2.0, "workspace_size": "1g", "workspace_keep_hours": 24, "web_fetch_allow": [],
      "code_execution": false, "code_execution_timeout": 300, "code_execution_image": "work-ledger-sandbox",
      "code_execution_memory": "512m", "code_execution_cpus": 2.0, "code_execution_pool": 1,
      "code_execution_session": false
    },
    "awareness": {
      "enabled": true, "lookback_hours": 24, "max_running": 10,
      "max_recent_completed": 20, "max_recent_findings": 20, "max_recent_errors": 10, "max_tokens": 1500,
      "include_child_work": false, "include_queued": false, "refresh_every": 10, "rank_by": "recency"
    },
    "budget": {"tokens": null, "money": null, "seconds": null, "calls": null, "children": null},
    "hooks": {"before_model_call": null, "before_tool": null, "after_tool": null, "timeout": 30, "on_failure": "refuse"},
    "consolidate": {"command": null, "timeout": 60, "on_failure": "continue"},
    "recover": {"command": null, "timeout": 60, "on_failure": "continue", "max_attempts": 3, "backoff": "exponential", "mode": "resume"}
  }'::jsonb;

comment on function _faculty_defaults() is 'A faculty configuration with every key and its default; null: no default.';

create or replace function _faculty_check(p_given jsonb, p_defaults jsonb, p_path text)
  returns void
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_key text;
  v_value jsonb;
  v_default jsonb;
begin
  for v_key, v_value in select key, value from jsonb_each(p_given) loop
    v_default := p_defaults -> v_key;
    if v_default is null then
      perform _raise_invalid(format('unknown key "%s%s" in a faculty', p_path, v_key));
    end if;
    continue when v_value = 'null'::jsonb or v_default = 'null'::jsonb;
    if jsonb_typeof(v_value) <> jsonb_typeof(v_default) then
      perform _raise_invalid(format('faculty key "%s%s" must be a %s, not a %s',
        p_path, v_key, jsonb_typeof(v_default), jsonb_typeof(v_value)));
    end if;
    if jsonb_typeof(v_value) = 'object' then
      perform _faculty_check(v_value, v_default, p_path || v_key || '.');
    elsif jsonb_typeof(v_value) = 'number'
      and v_key not in ('compact_threshold', 'lookback_hours', 'code_execution_cpus') and v_value::numeric % 1 <> 0 then
      perform _raise_invalid(format('faculty key "%s%s" must be a whole number, not %s', p_path, v_key, v_value));
    elsif jsonb_typeof(v_value) = 'number'
      and (v_value::numeric < 0 or v_value::numeric > 2147483647 or (v_key in ('max_turns', 'max_output_tokens', 'max_parallel_tools', 'max_attempts', 'max_result_chars', 'timeout', 'command_timeout', 'check_timeout') and v_value::numeric < 1)) then
      perform _raise_invalid(format('faculty key "%s%s" is out of range: %s', p_path, v_key, v_value));
    end if;
  end loop;
end
$$;

comment on function _faculty_check(jsonb, jsonb, text) is 'Raises WL002 for an unknown key or a value of another type than its default.';

create or replace function faculty_save(p_config jsonb)
  returns faculties
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_config jsonb := _faculty_defaults();
  v_section text;
  v_hash text;
  v_faculty faculties;
begin
  if coalesce(jsonb_typeof(p_config), 'null') <> 'object' or coalesce(p_config ->> 'name', '') !~ '\S' then
    perform _raise_invalid('a faculty is an object with a name', 'Example: select faculty_save(''{"name": "reader", "accepts": ["analyze"]}'')');
  end if;
  perform _faculty_check(p_config, v_config, '');
  if coalesce(p_config #>> '{engage,require_approval}', 'never') not in ('never', 'dangerous', 'moderate') then
    perform _raise_invalid(format('faculty key "engage.require_approval" must be never, dangerous or moderate, not %s', p_config #> '{engage,require_approval}'));
  end if;
  if coalesce(p_config #>> '{awareness,rank_by}', 'recency') not in ('recency', 'relevance') then
    perform _raise_invalid(format('faculty key "awareness.rank_by" must be recency or relevance, not %s', p_config #> '{awareness,rank_by}'));
  end if;
  if coalesce(p_config #>> '{engage,compact_strategy}', 'ledger') not in ('ledger', 'sliding_window', 'selective') then
    perform _raise_invalid(format('faculty key "engage.compact_strategy" must be ledger, sliding_window or selective, not %s', p_config #> '{engage,compact_strategy}'));
  end if;
  if coalesce(p_config ->> 'role', 'unified') not in ('manager', 'worker', 'unified') then
    perform _raise_invalid(format('faculty key "role" must be manager, worker or unified, not %s', p_config -> 'role'));
  end if;
  if jsonb_typeof(coalesce(p_config -> 'persona', '"p"')) not in ('null', 'string') or p_config ->> 'persona' !~ '\S'
    or jsonb_typeof(coalesce(p_config #> '{engage,toolset}', '"t"')) not in ('null', 'string') or p_config #>> '{engage,toolset}' !~ '\S' then
    perform _raise_invalid('the faculty keys "persona" and "engage.toolset" are names');
  end if;
  if coalesce(p_config #>> '{engage,mode}', 'builtin') not in ('builtin', 'external') then
    perform _raise_invalid(format('faculty key "engage.mode" must be builtin or external, not %s', p_config #> '{engage,mode}'));
  end if;
  if p_config #>> '{engage,mode}' = 'external' and coalesce(p_config #>> '{engage,command}', '') !~ '\S' then
    perform _raise_invalid('engage.mode = "external" needs engage.command');
  end if;
  for v_section in select unnest(array['orient', 'consolidate', 'recover', 'hooks']) loop
    if coalesce(p_config #>> array[v_section, 'on_failure'], 'continue') not in ('fail', 'continue', 'refuse', 'allow')
      or (v_section = 'hooks') <> coalesce(p_config #>> array[v_section, 'on_failure'] in ('refuse', 'allow'), v_section = 'hooks') then
      perform _raise_invalid(format('faculty key "%s.on_failure" must be %s, not %s', v_section,
        case v_section when 'hooks' then 'refuse or allow' else 'fail or continue' end, p_config #> array[v_section, 'on_failure']));
    end if;
  end loop;
  perform _budget_amount(b.key, b.value) from jsonb_each(case jsonb_typeof(p_config -> 'budget') when 'object' then p_config -> 'budget' else '{}' end) b where b.value <> 'null';
  if jsonb_typeof(p_config -> 'max_concurrent') not in ('null', 'number') or (p_config ->> 'max_concurrent')::numeric < 1 then
    perform _raise_invalid(format('faculty key "max_concurrent" must be a whole number from 1, not %s', p_config -> 'max_concurrent'));
  end if;
  for v_section in select key from jsonb_each(v_config) loop
    continue when coalesce(p_config -> v_section, 'null'::jsonb) = 'null'::jsonb;
    v_config := jsonb_set(v_config, array[v_section],
      case jsonb_typeof(v_config -> v_section)
        when 'object' then (v_config -> v_section) || jsonb_strip_nulls(p_config -> v_section)
        else p_config -> v_section
      end);
  end loop;
  v_hash := _content_hash(v_config::text);

  perform pg_advisory_xact_lock(hashtextextended('faculty ' || (v_config ->> 'name'), 0));
  update faculties set is_current = false where name = v_config ->> 'name' and is_current and content_hash <> v_hash;
  insert into faculties (content_hash, name, config)
  values (v_hash, v_config ->> 'name', v_config)
  on conflict (content_hash) do update set is_current = true
  returning * into v_faculty;
  return v_faculty;
end
$$;

comment on function faculty_save(jsonb) is
  'Stores an agent configuration and makes it the current one of its name. p_config has the keys of the faculty TOML: {name, accepts, role, persona, max_concurrent, orient, engage, awareness, budget, hooks, consolidate, recover}; what is left out gets its default. Saving the same content again changes nothing. Running foci keep what they started with. Raises WL002.';

create or replace function _faculty_for(p_faculty text, p_work_type text)
  returns faculties
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select *
    from faculties
   where is_current
     and case when p_faculty is not null then name = p_faculty else config -> 'accepts' ? p_work_type end
   order by name
   limit 1;
$$;

comment on function _faculty_for(text, text) is 'The current faculty of that name or, without a name, the first by name that accepts the work type; null where there is none.';
