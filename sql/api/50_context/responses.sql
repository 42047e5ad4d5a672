-- Reads stored responses: their text, and the inputs and results of their calls.

create or replace function _response_text(p_turn_id uuid)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select string_agg(_said_in(m.content), E'\n\n' order by m.sequence) from messages m where m.turn_id = p_turn_id and m.role = 'assistant';
$$;

comment on function _response_text(uuid) is 'The text of a turn''s response, without thinking and calls; null: it has none.';

create or replace function _said_in(p_content json)
  returns text
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select nullif(string_agg(b.value ->> 'text', E'\n\n' order by b.n), '')
    from json_array_elements(p_content) with ordinality as b(value, n)
   where b.value ->> 'type' = 'text' and not _is_blank(b.value ->> 'text');
$$;

comment on function _said_in(json) is 'The text of a message, whole, without thinking and calls; null: it has none.';

create or replace function _result_text(p_result json)
  returns text
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if json_typeof(p_result) is distinct from 'array' then
    return p_result #>> '{}';
  end if;
  return (
    select string_agg(
             coalesce(b.value ->> 'text', '[image' || coalesce(' ' || left(b.value #>> '{source,artifact}', 16), '') || ']'), E'\n'
             order by b.n)
      from json_array_elements(p_result) with ordinality as b(value, n));
end
$$;

comment on function _result_text(json) is 'The text of a result; an image is shown as [image HANDLE].';

create or replace function _call_input(p_call tool_calls)
  returns json
  language sql
  immutable
  parallel safe
  return coalesce(p_call.rewritten_input, p_call.input);

comment on function _call_input(tool_calls) is 'The input with which a tool runs: the model''s, or as a before_tool hook rewrote it.';

create or replace function _thought_end(p_stop_reason text)
  returns text
  language sql
  immutable
  parallel safe
  return _text_block(case p_stop_reason
    when 'max_tokens' then '(The output limit was reached here, in the middle of a thought.)'
    when 'model_context_window_exceeded' then '(The context window was full here, in the middle of a thought.)'
    when 'pause_turn' then '(The response was paused here, in the middle of a thought.)'
    else '(The response ended here, with a thought.)' end);

comment on function _thought_end(text) is 'The text block that closes a response ending with thinking: the API refuses an assistant message whose last block is thinking.';

create or replace function _without_thinking(p_content json)
  returns text
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce(string_agg(b.value::text, ',' order by b.n), '')
    from json_array_elements(p_content) with ordinality as b(value, n)
   where b.value ->> 'type' not in ('thinking', 'redacted_thinking');
$$;

comment on function _without_thinking(json) is 'The blocks of a message as text, without its thinking: a provider refuses thinking if the messages before it were changed.';

create or replace function _content_chars(p_content json)
  returns integer
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if json_typeof(p_content) is distinct from 'array' then
    return char_length(p_content::text);
  end if;
  return (
    select coalesce(sum(case b ->> 'type' when 'image' then 4700 else char_length(b::text) + 1 end), 0)::integer
      from json_array_elements(p_content) b);
end
$$;

comment on function _content_chars(json) is 'Characters of content in a request. An image counts as 4,700 characters: its tokens (about 1,600) do not depend on its bytes.';

create or replace function _loop_thinks(p_engage jsonb, p_head turns, p_cuts elisions[])
  returns boolean
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_cut elisions := p_cuts[cardinality(p_cuts)];
begin
  if jsonb_typeof(p_engage -> 'thinking') is distinct from 'number' then
    return true;
  end if;
  return (
    with recursive loop as (
      -- is_told: whether anything other than results is said between this response and the next one.
      select t.parent_turn_id, t.depth, r.kind, true as is_told, _is_told(t) as is_asked
        from turns t
       cross join lateral _response_begins(t) r(kind)
       where t.id = p_head.id and t.id is distinct from v_cut.last_turn_id
         and (r.kind is null or exists (select from tool_calls k where k.turn_id = t.id and k.parent_call_id is null))
      union all
      -- Goes back as long as each response made calls, or nothing was said after it; an empty response does not count.
      select t.parent_turn_id, t.depth, r.kind, n.is_told, _is_told(t)
        from loop l
        join turns t on t.id = l.parent_turn_id
       cross join lateral _response_begins(t) r(kind)
       cross join lateral (select l.is_asked or (l.kind is null and l.is_told) as is_told) n
       where t.id is distinct from v_cut.last_turn_id
         and (r.kind is null or not n.is_told or exists (select from tool_calls k where k.turn_id = t.id and k.parent_call_id is null))
    )
    select coalesce((
      select l.kind in ('thinking', 'redacted_thinking') and l.depth >= coalesce(v_cut.thinking_depth, v_cut.depth, 0)
        from loop l
       where l.kind is not null
       order by l.depth
       limit 1), true));
end
$$;

comment on function _loop_thinks(jsonb, turns, elisions[]) is
  'Whether the request after p_head, with these cuts, may have a thinking budget. With one, the API requires that a tool loop begins with thinking, so a loop whose first shown response has none continues without. True: no results are being sent, or the faculty (p_engage: its [engage]) sets no budget.';

create or replace function _response_begins(p_turn turns)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce(m.sent_content, m.content) -> 0 ->> 'type'
    from messages m
   where m.turn_id = p_turn.id and m.role = 'assistant' and p_turn.turn_type = 'normal'
   order by m.sequence
   limit 1;
$$;

comment on function _response_begins(turns) is 'The type of the first block of a turn''s response as requests show it; null: they show none.';

create or replace function _is_told(p_turn turns)
  returns boolean
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select p_turn.turn_type = 'normal' and exists (select from messages m where m.turn_id = p_turn.id and m.role = 'user');
$$;

comment on function _is_told(turns) is 'Whether requests show anything besides results that a turn said to the model.';

create or replace function _is_thinking(p_turn turns)
  returns boolean
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce((select config -> 'thinking' is not null from turn_configs where content_hash = p_turn.config_hash), true);
$$;

comment on function _is_thinking(turns) is 'Whether the request of a turn says how to think: one that is asked again with another model or output limit does the same.';
