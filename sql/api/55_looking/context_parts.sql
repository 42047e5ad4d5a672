-- Lists the parts of a request.

create or replace function context_parts(p_turn_id uuid, p_after integer default null, p_limit integer default null)
  returns table (
    n bigint, call integer, part text, role text, iteration integer, block integer, tokens integer, content text, cache text, why text,
    turn_id uuid)
  language plpgsql
  stable
  rows 50
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
declare
  v_turn turns;
  v_cut elisions;
  v_page record;
  v_ratio numeric;
  v_scale double precision; -- the provider's tokens per character
begin
  perform _check_page(coalesce(p_limit, 1), 10000);
  select * into v_turn from turns where id = p_turn_id;
  if not found or v_turn.config_hash is null then
    perform _raise_not_found('turn with a request', p_turn_id);
  elsif v_turn.turn_type <> 'normal' then
    perform _raise_invalid(format('turn %s is a request for a summary, which has only one part', p_turn_id), 'context_at() shows it.');
  end if;
  select * into v_cut from elisions where id = v_turn.elision_id;
  v_page := _parts_page(v_turn, p_after, p_limit);
  v_ratio := (select _tokens(1000000, c.config ->> 'model') / 1000000.0 from turn_configs c where c.content_hash = v_turn.config_hash);
  v_scale := nullif(_input_total(v_turn), 0)::double precision / nullif(v_page.total, 0);
  return query
    with part as materialized (
      select p.*, sum(p.chars) over w - p.chars / 2.0 as middle, row_number() over w as n
        from _parts_of_page(v_turn, v_page.first_id, v_page.last_id, v_page.has_head, v_page.has_end) p
      window w as (order by p.place, p."position", p.rank, p.ordinal)
    ),
    origin as materialized (
      select t.id, s.call_number, t.iteration, t.block, _block_of(t) as block_of
        from (select distinct turn_id from part where turn_id is not null) p
        join turns t on t.id = p.turn_id
        left join turn_sizes s on s.turn_id = t.id
    )
    select p.n, o.call_number, p.part, p.role, o.iteration, b.block, ceil(p.chars * v_ratio)::integer, coalesce(p.content, _part_text(p.blocks)),
           -- The provider counts tokens, not parts: the middle of a part decides where it belongs.
           case
             when v_scale is null then null
             when (v_page.before + p.middle) * v_scale <= coalesce(v_turn.cached_input_tokens, 0) then 'read'
             when (v_page.before + p.middle) * v_scale <= coalesce(v_turn.cached_input_tokens, 0) + coalesce(v_turn.cache_write_tokens, 0) then 'written'
             else 'new' end,
           _part_why(p.part, b.block, v_turn, v_cut), p.turn_id
      from part p
      left join origin o on o.id = p.turn_id
      cross join lateral (select case when p.part in ('response', 'result', 'image') then o.block_of else o.block end as block) b
     order by p.n;
end
$$;

comment on function context_parts(uuid, integer, integer) is
  'The parts of a turn''s request, in order, for people to read: select part, tokens, content from context_parts(''…''). part: system, tools (their names), task, stubs (of closed blocks, or what a compaction put in place of old turns), kept (verbatim, after the stubs), then the turns that are shown as they were: response, result, image (of failed calls), message (from people), child_result, digest, nudge, hook, engine. n: its place on the page. call: the model call of the conversation that produced this part or was answered with it, as n of context_timeline(); null: it comes before all turns. iteration and block: where the part comes from. tokens: estimated. cache: read (from the provider''s cache), written (to it) or new (neither), by the provider''s count; null: it reported none. why: why the part is in the request. turn_id: the turn that it comes from. p_limit: only the parts of this many calls (1 to 10,000), with what precedes them; p_after: only the calls after that one, without what precedes them. The cost of a page depends on what it holds, not on the length of the request. context_at() returns the exact bytes. Raises WL001, WL002 (a summary''s turn).';

create or replace function _parts_page(
    p_turn turns,
    p_after integer,
    p_limit integer,
    out first_id uuid,
    out last_id uuid,
    out has_head boolean,
    out has_end boolean,
    out before bigint,
    out total bigint)
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_number integer := (select s.call_number from turn_sizes s where s.turn_id = p_turn.id);
  v_cut integer := coalesce((select s.call_number from elisions e join turn_sizes s on s.turn_id = e.last_turn_id where e.id = p_turn.elision_id), 0);
  v_after integer := least(greatest(p_after, v_cut), v_number);
  v_head bigint := (select coalesce(sum(p.chars), 0) from _parts_of_page(p_turn, null, null, true, false) p);
begin
  has_head := p_after is null;
  has_end := p_limit is null or v_after + p_limit >= v_number;
  first_id := case when v_after > v_cut then (_turn_of_call(p_turn.parent_turn_id, v_after)).id end;
  last_id := case when v_after >= v_number then null
                  when has_end then p_turn.parent_turn_id
                  else (_turn_of_call(p_turn.parent_turn_id, v_after + p_limit)).id end;
  has_end := has_end and coalesce(v_after < v_number, true);
  before := case when has_head then 0 else v_head + _said_before(p_turn.id, v_after + 1) - _said_before(p_turn.id, v_cut + 1) end;
  total := v_head + (select s.said from turn_sizes s where s.turn_id = p_turn.id) - _said_before(p_turn.id, v_cut + 1);
end
$$;

comment on function _parts_page(turns, integer, integer) is
  'The turns of a page of context_parts(): after first_id (null: after the cut) up to last_id; whether it begins with what stands before all turns (has_head) and ends with what the request itself tells (has_end); characters of the request before the page, and of all of it.';

create or replace function _said_before(p_head_id uuid, p_number integer)
  returns bigint
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce((
    select s.said - o.task - o.digest - o.people - o.engine
      from _turn_of_call(p_head_id, p_number) t
      join turn_sizes s on s.turn_id = t.id
      cross join lateral _told_sizes(t) o), 0);
$$;

comment on function _said_before(uuid, integer) is 'Characters of what was said in a conversation before a model call told anything new, by the number of the call.';

create or replace function _parts_of_page(p_turn turns, p_first_id uuid, p_last_id uuid, p_has_head boolean, p_has_end boolean)
  returns table (
    place integer, "position" integer, rank integer, ordinal integer, part text, role text, turn_id uuid, content text, blocks text, chars integer)
  language sql
  stable
  rows 50
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with config as (
    select c.config from turn_configs c where c.content_hash = p_turn.config_hash and p_has_head
  )
  select 0, 0, 0, s.n::integer, 'system', 'system', null::uuid, s.value ->> 'text', null, char_length(s.value ->> 'text')
    from config c
    cross join json_array_elements(c.config -> 'system') with ordinality as s(value, n)
  union all
  select 1, 0, 0, 0, 'tools', 'system', null, coalesce((select string_agg(t ->> 'name', ', ') from json_array_elements(c.config -> 'tools') t), ''), null,
         char_length((c.config -> 'tools')::text)
    from config c
  union all
  select 2, p."position", p.rank, p.ordinal,
         case
           when p.kind <> 'said' then p.kind
           when p."position" = 0 and p.ordinal = 1 then 'task'
           else coalesce(m.metadata ->> 'kind', m.source, p.kind) end,
         p.role, p.turn_id, null, p.blocks, p.chars
    from _message_parts(p_last_id, _elision_chain(p_turn.elision_id), '', p_first_id) p
    left join messages m on m.turn_id = p.turn_id and m.sequence = p.ordinal and m.role = 'user' and p.kind = 'said'
   where p_has_head or p."position" >= 0
  union all
  select 3, 0, 0, m.sequence,
         case
           when p_turn.parent_turn_id is null and m.sequence = 1 then 'task'
           else coalesce(m.metadata ->> 'kind', m.source, 'said') end,
         'user', m.turn_id, null, _blocks(m.content), _content_chars(m.content)
    from messages m
   where m.turn_id = p_turn.id and m.role = 'user' and p_has_end;
$$;

comment on function _parts_of_page(turns, uuid, uuid, boolean, boolean) is
  'The parts of a turn''s request, those of the turns after p_first_id (null: after its cut) up to p_last_id (null: none); content: text for people, null: that of blocks.';

create or replace function _part_why(p_part text, p_block integer, p_turn turns, p_cut elisions)
  returns text
  language sql
  immutable
  return case
    when p_part in ('system', 'tools', 'task') then 'always there'
    when p_part = 'stubs' then 'since iteration ' || p_cut.iteration || ' in place of what left the context'
    when p_part = 'kept' and (p_cut.kept ->> 'is_named')::boolean then 'kept verbatim: named by a step'
    when p_part = 'kept' then 'kept verbatim: read recently and not changed since'
    when p_part in ('response', 'result', 'image') and p_block < p_turn.block then 'its block is closed but still shown in full'
    when p_part in ('response', 'result', 'image') then 'its block is open'
    when p_part in ('message', 'human') then 'what people say is shown in full'
    else 'told in its turn' end;

comment on function _part_why(text, integer, turns, elisions) is 'Why a turn''s request has a part, as text; p_cut: the newest that it uses.';

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
