-- Reading stored responses: their text, the inputs and results of their calls.

create or replace function _response_text(p_turn_id uuid)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select nullif(string_agg(b.value ->> 'text', E'\n\n' order by b.n), '')
    from messages m
    cross join json_array_elements(m.content) with ordinality as b(value, n)
   where m.turn_id = p_turn_id and m.role = 'assistant' and b.value ->> 'type' = 'text' and b.value ->> 'text' ~ '\S';
$$;

comment on function _response_text(uuid) is 'The text of a turn''s response, without thinking and calls; null: it has none.';

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
