-- The spans of model calls: gen_ai.chat, one for each request that was sent, including those for summaries.

create or replace function _chat_spans(p_focus foci, p_first integer, p_last integer, p_with_content boolean)
  returns setof trace_span
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with asked(turn, iteration, parent_span_id) as (
    select t, t.iteration, _iteration_span_id(p_focus.id, t.iteration) from _trace_turns(p_focus.id, p_first, p_last) t
    union all
    select t, c.iteration, _span_id('work.context.compaction', t.id::text)
      from compactions c join turns t on t.id = c.turn_id
     where c.focus_id = p_focus.id and c.iteration between p_first and p_last
  )
  select s.*
    from asked a
    cross join lateral _asked(a.turn) c
    cross join lateral (
      select case when c.error_class is null then _answer_attributes(a.turn) else jsonb_build_object(
               'error.type', c.error_class, 'http.response.status_code', c.status, 'work.request.id', c.request_id) end) as r(attributes)
    cross join lateral _span(
      'gen_ai.chat', _span_id('gen_ai.chat', c.turn_id || '/' || c.attempt), a.parent_span_id, c.started_at, c.ended_at, c.error_class is not null,
      jsonb_build_object(
        'work.iteration', a.iteration, 'work.turn.id', c.turn_id, 'work.model_call.attempt', c.attempt,
        'gen_ai.operation.name', 'chat', 'gen_ai.provider.name', coalesce((a.turn).provider, 'anthropic'), 'gen_ai.request.model', c.model,
        'gen_ai.request.stream', case when (a.turn).external_id is null then true end,
        'server.address', _server_address(_faculty_config(p_focus) #>> '{engage,base_url}'))
      || coalesce(_request_attributes((a.turn).config_hash), '{}')
      || r.attributes
      || case when p_with_content and c.error_class is null then _chat_content((a.turn).id) else '{}' end) s
   where c.ended_at is not null;
$$;

comment on function _chat_spans(foci, integer, integer, boolean) is 'A gen_ai.chat span for each request sent for these iterations that is over.';

create or replace function _asked(p_turn turns)
  returns setof model_calls
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  -- A request without a row was sent with its turn, and is answered or running. For a recorded run, only the answer and its time are known.
  select row(
           p_turn.id, n, coalesce(m.model, case when p_turn.external_id is null then c.model else p_turn.model end), coalesce(m.started_at, p_turn.started_at),
           coalesce(m.ended_at, case when p_turn.provider is not null then p_turn.completed_at end), m.error_class, m.status, m.request_id)::model_calls
    from generate_series(1, p_turn.call_count) n
    left join model_calls m on m.turn_id = p_turn.id and m.attempt = n
    left join turn_configs c on c.content_hash = p_turn.config_hash;
$$;

comment on function _asked(turns) is 'The requests that were sent for a turn; one that is under way has no ended_at.';

create or replace function _request_attributes(p_config_hash text)
  returns jsonb
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select jsonb_build_object(
           'gen_ai.request.max_tokens', o.max_tokens, 'gen_ai.request.temperature', o.temperature, 'gen_ai.request.top_p', o.top_p,
           'work.request.thinking', o.thinking, 'work.request.effort', o.effort, 'work.request.tool_choice', o.tool_choice,
           'work.request.cache_ttl', o.cache_ttl, 'work.request.service_tier', o.service_tier, 'work.request.betas', o.betas)
    from turn_configs c
   cross join lateral _options_of(c.config) o
   where c.content_hash = p_config_hash;
$$;

comment on function _request_attributes(text) is 'What a request asked of the model, as attributes of its span.';

create or replace function _answer_attributes(p_turn turns)
  returns jsonb
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select jsonb_build_object(
           'gen_ai.response.id', p_turn.response_id,
           'gen_ai.response.model', p_turn.model,
           'gen_ai.response.finish_reasons', case when p_turn.stop_reason is not null then jsonb_build_array(p_turn.stop_reason) end,
           'gen_ai.response.time_to_first_chunk', round(p_turn.first_token_ms / 1000.0, 3),
           'gen_ai.usage.input_tokens', i.total,
           'gen_ai.usage.output_tokens', p_turn.output_tokens,
           'gen_ai.usage.cache_read.input_tokens', p_turn.cached_input_tokens,
           'gen_ai.usage.cache_creation.input_tokens', p_turn.cache_write_tokens,
           'gen_ai.usage.reasoning.output_tokens', p_turn.reasoning_tokens,
           'work.model_call.duration', p_turn.duration_ms,
           'work.context.cache_read_ratio', round(coalesce(p_turn.cached_input_tokens, 0)::numeric / nullif(i.total, 0), 4),
           'work.request.id', p_turn.request_id)
    from (select coalesce(p_turn.input_tokens, 0) + coalesce(p_turn.cached_input_tokens, 0) + coalesce(p_turn.cache_write_tokens, 0)) as i(total);
$$;

comment on function _answer_attributes(turns) is 'What the provider said of a response. gen_ai.usage.input_tokens counts all input, as the conventions ask: also what was read from or written to the cache.';

create or replace function _chat_content(p_turn_id uuid)
  returns jsonb
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select jsonb_build_object(
           'gen_ai.system_instructions', (select jsonb_agg(_genai_part(b)) from _genai_blocks(r.request -> 'system') b)::text,
           'gen_ai.input.messages', (
             select jsonb_agg(jsonb_build_object('role', m.value ->> 'role', 'parts', (
                      select coalesce(jsonb_agg(_genai_part(b)), '[]') from _genai_blocks(m.value -> 'content') b)) order by m.n)
               from jsonb_array_elements(r.request -> 'messages') with ordinality as m(value, n))::text,
           'gen_ai.output.messages', (
             select jsonb_agg(jsonb_build_object('role', 'assistant', 'finish_reason', t.stop_reason, 'parts', (
                      select coalesce(jsonb_agg(_genai_part(b)), '[]') from _genai_blocks(_jsonb_of(m.content)) b)))
               from messages m join turns t on t.id = m.turn_id
              where m.turn_id = p_turn_id and m.role = 'assistant')::text)
    from (select _jsonb_of(context_at(p_turn_id))) as r(request);
$$;

comment on function _chat_content(uuid) is 'What a request said and what was answered, in the form of the conventions, as JSON in text.';

create or replace function _genai_blocks(p_content jsonb)
  returns setof jsonb
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select b.value
    from jsonb_array_elements(case jsonb_typeof(p_content)
      when 'array' then p_content
      when 'string' then jsonb_build_array(jsonb_build_object('type', 'text', 'text', p_content))
      else '[]' end) with ordinality as b(value, n)
   order by b.n;
$$;

comment on function _genai_blocks(jsonb) is 'The blocks of a message; of a text, one.';

create or replace function _genai_part(p_block jsonb)
  returns jsonb
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select case p_block ->> 'type'
    when 'text' then jsonb_build_object('type', 'text', 'content', p_block -> 'text')
    when 'thinking' then jsonb_build_object('type', 'reasoning', 'content', p_block -> 'thinking')
    when 'tool_use' then jsonb_build_object('type', 'tool_call', 'id', p_block -> 'id', 'name', p_block -> 'name', 'arguments', p_block -> 'input')
    when 'tool_result' then jsonb_build_object('type', 'tool_call_response', 'id', p_block -> 'tool_use_id', 'response', p_block -> 'content')
    else jsonb_build_object('type', p_block -> 'type')
  end;
$$;

comment on function _genai_part(jsonb) is 'A block of a message in the form of the conventions; images and the like without their data.';
