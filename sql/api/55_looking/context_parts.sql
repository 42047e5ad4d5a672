-- What a request consists of, part by part.

create or replace function context_parts(p_turn_id uuid)
  returns table (
    n bigint, part text, role text, iteration integer, block integer, tokens integer, content text, cache text, why text, turn_id uuid)
  language plpgsql
  stable
  rows 50
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
declare
  v_turn turns;
  v_config json;
begin
  select * into v_turn from turns where id = p_turn_id;
  if not found or v_turn.config_hash is null then
    perform _raise_not_found('turn with a request', p_turn_id);
  elsif v_turn.turn_type <> 'normal' then
    perform _raise_invalid(format('turn %s is a request for a summary, which has only one part', p_turn_id), 'context_at() shows it.');
  end if;
  v_config := (select c.config from turn_configs c where c.content_hash = v_turn.config_hash);
  return query
    with part as (
      select 0 as place, 0 as "position", 0 as rank, s.n::integer as ordinal, 'system' as part, 'system' as role, null::uuid as turn_id,
             s.value ->> 'text' as content, char_length(s.value ->> 'text') as chars
        from json_array_elements(v_config -> 'system') with ordinality as s(value, n)
      union all
      select 1, 0, 0, 0, 'tools', 'system', null, (select string_agg(t ->> 'name', ', ') from json_array_elements(v_config -> 'tools') t),
             char_length((v_config -> 'tools')::text)
      union all
      select 2, p."position", p.rank, p.ordinal,
             case
               when p.kind <> 'said' then p.kind
               when p."position" = 0 and p.ordinal = 1 then 'task'
               else coalesce(m.metadata ->> 'kind', m.source, p.kind) end,
             p.role, p.turn_id, _part_text(p.blocks), p.chars
        from _message_parts(v_turn.parent_turn_id, _elision_chain(v_turn.elision_id), '') p
        left join messages m on m.turn_id = p.turn_id and m.sequence = p.ordinal and m.role = 'user' and p.kind = 'said'
      union all
      select 3, 0, 0, m.sequence,
             case
               when v_turn.parent_turn_id is null and m.sequence = 1 then 'task'
               else coalesce(m.metadata ->> 'kind', m.source, 'said') end,
             'user', m.turn_id, _part_text(_blocks(m.content)), _content_chars(m.content)
        from messages m
       where m.turn_id = v_turn.id and m.role = 'user'
    )
    select row_number() over w, p.part, p.role, p.iteration, p.in_block, p.tokens, p.content,
           case
             when _input_total(v_turn) = 0 then null
             -- The provider counted tokens, not parts: a part is where its middle is.
             when (sum(p.tokens) over w - p.tokens / 2.0) * _input_total(v_turn) / sum(p.tokens) over () <= coalesce(v_turn.cached_input_tokens, 0) then 'read'
             when (sum(p.tokens) over w - p.tokens / 2.0) * _input_total(v_turn) / sum(p.tokens) over ()
               <= coalesce(v_turn.cached_input_tokens, 0) + coalesce(v_turn.cache_write_tokens, 0) then 'written'
             else 'new' end,
           _part_why(p.part, p.in_block, v_turn), p.turn_id
      from (
        select p.*, t.iteration, case when p.part in ('response', 'result', 'image') then _block_of(t) else t.block end as in_block,
               _tokens(p.chars, v_config ->> 'model') as tokens
          from part p
          left join turns t on t.id = p.turn_id) p
    window w as (order by p.place, p."position", p.rank, p.ordinal)
     order by 1;
end
$$;

comment on function context_parts(uuid) is
  'What a turn''s request consists of, in order, for people to read: select part, tokens, content from context_parts(''…''). part: system, tools (their names), task, stubs (of closed blocks, or what a compaction put in place of old turns), kept (verbatim, after the stubs), then the turns that are shown as they were: response, result, image (of failed calls), message (from people), child_result, digest, nudge, hook, engine. iteration and block: where the part comes from. tokens: estimated. cache: read (from the provider''s cache), written (to it) or new (neither), by the provider''s count; null: it reported none. why: why the part is in the request. turn_id: the turn that it comes from. context_at() returns the exact bytes. Raises WL001, WL002 (a summary''s turn).';

create or replace function _part_why(p_part text, p_block integer, p_turn turns)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
  select case
           when p_part in ('system', 'tools', 'task') then 'always there'
           when p_part = 'stubs' then format('since iteration %s in place of what left the context', e.iteration)
           when p_part = 'kept' and (e.kept ->> 'is_named')::boolean then 'kept verbatim: named by the newest step'
           when p_part = 'kept' then 'kept verbatim: read lately and not changed since'
           when p_part in ('response', 'result', 'image') and p_block < p_turn.block then 'its block is closed and still whole'
           when p_part in ('response', 'result', 'image') then 'its block is open'
           when p_part in ('message', 'human') then 'what people say is shown in full'
           else 'told in its turn' end
    from (select 1) one
    left join elisions e on e.id = p_turn.elision_id;
$$;

comment on function _part_why(text, integer, turns) is 'Why a turn''s request has a part, as text.';

create or replace function _part_text(p_blocks text)
  returns text
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select string_agg(case b.value ->> 'type'
             when 'text' then b.value ->> 'text'
             when 'thinking' then '(thinks) ' || (b.value ->> 'thinking')
             when 'tool_use' then format('> %s %s', b.value ->> 'name', b.value -> 'input')
             when 'tool_result' then _result_text(b.value -> 'content')
             when 'image' then _result_text(json_build_array(b.value))
             else format('(%s)', b.value ->> 'type') end, E'\n' order by b.n)
    from json_array_elements(('[' || p_blocks || ']')::json) with ordinality as b(value, n);
$$;

comment on function _part_text(text) is 'Content blocks as text for people to read.';
