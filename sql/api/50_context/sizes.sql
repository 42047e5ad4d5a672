-- The size of a request: characters, which are counted, and tokens, which are estimated from them.

create or replace function _results_chars(p_turn_id uuid)
  returns integer
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce(sum(_content_chars(result)), 0)::integer from tool_calls where turn_id = p_turn_id and parent_call_id is null;
$$;

comment on function _results_chars(uuid) is 'Characters of the results of a turn''s calls in a request.';

create or replace function _exchange_chars(p_turn_id uuid)
  returns integer
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce((select sum(_content_chars(coalesce(sent_content, content))) from messages where turn_id = p_turn_id and role = 'assistant'), 0)::integer
       + _results_chars(p_turn_id);
$$;

comment on function _exchange_chars(uuid) is 'Characters of a turn''s exchange (response and results) in a request.';

create or replace function _parts_chars(p_parent_turn_id uuid, p_cuts elisions[], p_query_blocks text)
  returns bigint
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce(sum(chars), 0) from _message_parts(p_parent_turn_id, p_cuts, p_query_blocks);
$$;

comment on function _parts_chars(uuid, elisions[], text) is 'Characters of a request''s messages; arguments as in _message_parts().';

create or replace function _config_chars(p_turn turns)
  returns integer
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select char_length(config::text) from turn_configs where content_hash = p_turn.config_hash;
$$;

comment on function _config_chars(turns) is 'Characters of a turn''s request other than its messages: model, system prompt, tools.';

create or replace function _sizes_chars(p_sizes turn_sizes)
  returns bigint
  language sql
  immutable
  parallel safe
  return p_sizes.task::bigint + p_sizes.digest + p_sizes.stubs + p_sizes.kept + p_sizes.closed + p_sizes.words + p_sizes.results + p_sizes.people
    + p_sizes.engine;

comment on function _sizes_chars(turn_sizes) is 'Characters of the messages of a turn''s request, added up from what is stored.';

create or replace function _request_chars(p_head turns, p_cuts elisions[], p_say text)
  returns bigint
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_sizes turn_sizes;
  v_exchange exchange;
begin
  if (p_cuts[cardinality(p_cuts)]).id is not distinct from p_head.elision_id then
    select * into v_sizes from turn_sizes where turn_id = p_head.id;
  end if;
  if v_sizes.turn_id is null then
    return _parts_chars(p_head.id, p_cuts, p_say) + _config_chars(p_head);
  end if;
  v_exchange := (select e from _exchange(p_head.id) e);
  return _sizes_chars(v_sizes) + v_exchange.word_chars + v_exchange.result_chars + _blocks_chars(p_say) + _config_chars(p_head);
end
$$;

comment on function _request_chars(turns, elisions[], text) is 'Characters of the whole request after a turn, with the cuts p_cuts and the text p_say: added up from what is stored, or walked if the cut is another than the turn''s.';

create or replace function _next_tokens(
    p_engage jsonb,
    p_last turns,
    p_head turns,
    p_cut elisions,
    p_say text,
    p_raw_chars integer,
    p_chars bigint default null)
  returns integer
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_model text := p_engage ->> 'model';
begin
  if p_last.id <> p_head.id or _input_total(p_head) = 0 then
    return _tokens(p_chars, v_model); -- no count to start from: a compaction came in between, or the provider reports no usage
  end if;
  return _input_total(p_head) + coalesce(p_head.output_tokens, 0) + _tokens(p_raw_chars + char_length(p_say), v_model)
       + case when p_cut.id is distinct from p_head.elision_id then p_cut.stub_tokens + p_cut.kept_tokens - p_cut.tokens_elided else 0 end;
end
$$;

comment on function _next_tokens(jsonb, turns, turns, elisions, text, integer, bigint) is
  'Estimated tokens of the next request: what the provider counted for the last request and its response, plus an estimate of what came since (p_raw_chars: _results_chars() of p_head). p_chars: the characters of the whole request, used if the provider counted nothing.';

create or replace function _window_part(p_engage jsonb, p_part numeric)
  returns integer
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  -- A message may have 4 MiB, however large the window is.
  select least(_context_window_of(p_engage) * p_part / (_tokens(10000, p_engage ->> 'model') / 10000.0), 1000000)::integer;
$$;

comment on function _window_part(jsonb, numeric) is 'How many characters fill a part of a model''s context window, by the ratio known now; at most a million.';
