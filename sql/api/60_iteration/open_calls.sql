-- The open calls of a response: which are to be run, and how open calls are stopped.

create or replace function _open_calls(p_turn_id uuid)
  returns json
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce(json_agg(_open_call(k) order by k.ordinal), '[]'::json)
    from tool_calls k
   where k.turn_id = p_turn_id and k.parent_call_id is null and k.id <> all ((select _calls_held(p_turn_id))::uuid[])
     and (k.status = 'pending' or k.status = 'running' and k.effect <> 'unsafe'); -- begun by _calls_begin(), and may run again
$$;

comment on function _open_calls(uuid) is 'The calls of a turn that are to be run, those that have begun with its response among them, except those behind a call that waits for approval; see _open_call().';

create or replace function _waiting_calls(p_turn_id uuid)
  returns json
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce(json_agg(json_build_object('id', k.id, 'ordinal', k.ordinal, 'input', _call_input(k)) order by k.ordinal), '[]'::json)
    from tool_calls k
   where k.turn_id = p_turn_id and k.parent_call_id is null
     and (k.status = 'waiting' or k.status = 'pending' and k.id = any ((select _calls_held(p_turn_id))::uuid[]));
$$;

comment on function _waiting_calls(uuid) is 'The calls of a turn that wait for approval, and those behind them: [{id, ordinal, input}].';

create or replace function _open_call(p_call tool_calls)
  returns json
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select json_build_object(
           'id', p_call.id,
           'ordinal', p_call.ordinal,
           'name', coalesce(a.name, p_call.tool_name),
           'is_begun', p_call.status = 'running',
           'input', _call_input(p_call),
           'is_cleared', _is_cleared(p_call.id),
           'input_schema', coalesce(a.input_schema, '{"type": "object"}'),
           'implementation', coalesce(a.implementation, 'runtime'),
           'behind', _runs_behind(p_call) || _order_kept(p_call, coalesce(a.implementation, 'runtime')),
           'code_tools', case when p_call.tool_name = 'execute_code' then (
             select json_agg(json_build_object('name', c.tool_name, 'description', c.description, 'input_schema', c.input_schema) order by c.name)
               from turns t
               join foci o on o.id = t.focus_id
               join faculties f on f.content_hash = o.faculty_hash
               cross join lateral _toolset(f.config) c
              where t.id = p_call.turn_id and _is_for_code(c.name)) end)
    from (values (1)) as v(one)
    -- If a tool has been removed from the registry meanwhile, its call still gets an answer: the worker reports that there is no such tool.
    left join abilities a on a.tool_name = p_call.tool_name;
$$;

comment on function _open_call(tool_calls) is 'A call to be run, for the worker: {id, ordinal, name, is_begun, input, is_cleared, input_schema, implementation, behind, code_tools}. ordinal: its place among the calls of the response, or of its code. is_begun: it need not begin. is_cleared: its before_tool hook has run. behind: ids of the calls that have to end first. code_tools: what the code of execute_code may call.';

create or replace function _is_cleared(p_call_id uuid)
  returns boolean
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select exists (select from hook_runs h where h.tool_call_id = p_call_id and h.hook = 'before_tool' and h.status in ('completed', 'failed'));
$$;

comment on function _is_cleared(uuid) is 'Whether the before_tool hook of a call has run.';

create or replace function _calls_begin(p_turn turns, p_config jsonb)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  update tool_calls
     set status = 'running', attempts = attempts + 1, started_at = _now()
   where id in (
     select k.id
       from tool_calls k
       join abilities a on a.tool_name = k.tool_name and _may_begin(a, p_config)
      where k.turn_id = p_turn.id and k.parent_call_id is null and k.status = 'pending'
        and _begins_behind(k) = '{}' and _order_kept(k, a.implementation) = '{}'
      order by k.ordinal
      limit (p_config #>> '{engage,max_parallel_tools}')::integer);
end
$$;

comment on function _calls_begin(turns, jsonb) is
  'Begins the calls of a response that its worker runs at once and that may run again after a crash, as tool_call_begin() would. _response_store() has begun a call that is alone.';

create or replace function _may_begin(p_ability abilities, p_config jsonb)
  returns boolean
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  return p_ability.implementation = 'runtime' and p_ability.effect <> 'unsafe' and p_ability.name <> 'execute_code'
    and p_config #>> '{hooks,before_tool}' is null and not _needs_approval(p_ability.risk, p_config -> 'engage');
end
$$;

comment on function _may_begin(abilities, jsonb) is
  'Whether a call may begin with its response: its worker runs it, it may run again after a crash (pure, idempotent), and neither a hook nor a person is asked first.';

create or replace function _may_precede(p_ability abilities, p_config jsonb)
  returns boolean
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  return p_ability.effect = 'pure' and p_config #>> '{hooks,after_tool}' is null and _may_begin(p_ability, p_config);
end
$$;

comment on function _may_precede(abilities, jsonb) is
  'Whether a call may run before its response is stored, to be stored with its result: it may begin by itself, no hook sees its result, and it leaves nothing behind that the ledger would have to know about if the worker died (pure).';

create or replace function _early_tools(p_config jsonb)
  returns json
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  -- An entry delays nothing: the database records it with the response, see _entries_record().
  select coalesce((
    select json_object_agg(a.tool_name, case when a.name <> 'ledger_append' then a.name end)
      from _toolset(p_config) a
     where a.name = 'ledger_append' or _may_precede(a, p_config)), '{}');
$$;

comment on function _early_tools(jsonb) is 'The tools of a faculty whose calls may run before their response is stored: {name in requests: name}; null in place of the name: with it.';

create or replace function _is_for_code(p_ability text)
  returns boolean
  language sql
  immutable
  parallel safe
  return not _is_wait(p_ability) and p_ability not in ('execute_code', 'work_complete');

comment on function _is_for_code(text) is 'Whether an agent''s code may call the ability: not those that wait or end the work.';

create or replace function _calls_stop(p_call_ids uuid[], p_words text, p_words_if_uncertain text default null)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_ids uuid[] := p_call_ids || array(
    select b.id
      from unnest(p_call_ids) p
      join tool_calls k on k.id = p
      join tool_calls b on b.turn_id = k.turn_id and b.parent_call_id = k.id);
begin
  update tool_calls
     set status = case when status = 'running' and effect = 'unsafe' then 'uncertain' else 'failed' end,
         is_error = true, completed_at = _now(), warning = null,
         result = to_json(case when status = 'running' and effect = 'unsafe' then coalesce(p_words_if_uncertain, p_words) else p_words end)
   where id = any (v_ids) and completed_at is null;
  perform _approvals_expire(v_ids);
end
$$;

comment on function _calls_stop(uuid[], text, text) is
  'Ends open calls, and the calls made by their code, with p_words as the result; unsafe calls that were running become uncertain, with p_words_if_uncertain. Their open approvals expire. The caller holds the item''s row lock.';
