-- The messages of a request, rebuilt from the chain of turns. For each turn: its user part (the results of its parent's calls, then whatever else the
-- model was told), then the response. After a turn with an empty response, two user parts meet and become one message. Of turns that were cut, the first
-- message (the task) and the stubs stay. Cache breakpoints: after the last stub, and where the previous request ended if the exchange since then is
-- long, see _is_far(). Two more are in the config (see _turn_config()), and the API accepts at most four.

create or replace function _messages(p_parent_turn_id uuid, p_elisions elisions[], p_query_blocks text, p_ttl text default '5m')
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with previous as (
    -- Where the previous request ended, if this one begins with it, and where the one before that did.
    select t.depth * 2 as "position", b.depth * 2 as before
      from turns t
      left join turns b on b.id = t.parent_turn_id
     where t.id = p_parent_turn_id and t.turn_type = 'normal' and t.elision_id is not distinct from (p_elisions[cardinality(p_elisions)]).id
  ),
  part as (
    -- A response that came in pieces is one message, and so are two with nothing in between, as some programs record them.
    select p.*,
           p.role = 'assistant' and lag(p.role) over w is distinct from 'assistant' as is_next,
           p."position" <= r."position" and lead(p."position") over w > r."position" as is_end,
           _is_far(sum(b.count) filter (where p."position" > r."position") over ()) as is_far
      from _message_parts(p_parent_turn_id, p_elisions, p_query_blocks, null, p_ttl) p
      left join previous r on true
     -- Once for each part, and only where it matters, since it parses the text as JSON.
     cross join lateral (
       select case when p.kind = 'result' then 1
                   when p."position" > coalesce(r.before, r."position") then json_array_length(('[' || p.blocks || ']')::json) end as count
       offset 0) b
    window w as (order by p."position", p.rank, p.ordinal)
  ),
  numbered as (
    select *, count(*) filter (where p.is_next) over (order by p."position", p.rank, p.ordinal) as message
      from part p
  ),
  message as (
    -- The stubs have their own breakpoint, but what follows them has none.
    select n.message, n.role,
           string_agg(
             case when n.is_end and n.is_far and (n.kind <> 'stubs' or n.rank = 2147483646) then _with_breakpoint(w.blocks, p_ttl)
                  else w.blocks end, ','
             order by n."position", n.rank, n.ordinal) as blocks
      from numbered n
      cross join lateral (select case n.role when 'user' then _with_images(n.blocks) else n.blocks end as blocks) w
     group by n.message, n.role
  )
  select '[' || coalesce(string_agg('{"role":"' || m.role || '","content":[' || m.blocks || ']}', ',' order by m.message, m.role = 'user'), '') || ']'
    from message m;
$$;

comment on function _messages(uuid, elisions[], text, text) is 'The messages of the request after a turn, as JSON text; arguments as in _message_parts(). p_ttl: how long the provider keeps what the request leaves in its cache, 5m or 1h.';

create or replace function _is_far(p_blocks bigint)
  returns boolean
  language sql
  immutable
  parallel safe
  return p_blocks > 18;

comment on function _is_far(bigint) is 'Whether so many content blocks since the previous request move a cache breakpoint: the provider looks back 20 blocks from one for what it has cached. After a longer exchange, one is put where the previous request had its last.';

create or replace function _message_parts(
    p_parent_turn_id uuid, p_elisions elisions[], p_query_blocks text, p_after_turn_id uuid default null, p_ttl text default '5m')
  returns table (kind text, turn_id uuid, "position" integer, rank integer, ordinal integer, role text, blocks text, chars integer)
  language sql
  stable
  rows 200
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with recursive cut as (
    select * from unnest(p_elisions[cardinality(p_elisions):])
  ),
  chain as (
    select id, parent_turn_id, depth, turn_type
      from turns
     where id = p_parent_turn_id and id is distinct from (select last_turn_id from cut) and id is distinct from p_after_turn_id
    union all
    select t.id, t.parent_turn_id, t.depth, t.turn_type
      from chain c
      join turns t on t.id = c.parent_turn_id
     where t.id is distinct from (select last_turn_id from cut) and t.id is distinct from p_after_turn_id
  ),
  part as (
    select case when m.role = 'assistant' then 'response' else 'said' end as kind, c.id as turn_id,
           c.depth * 2 + case m.role when 'assistant' then 1 else 0 end as "position",
           2 as rank, m.sequence as ordinal, m.role,
           case when m.role = 'assistant' and c.depth < (select coalesce(thinking_depth, depth) from cut)
                  then _without_thinking(coalesce(m.sent_content, m.content))
                else _blocks(coalesce(m.sent_content, m.content)) end as blocks,
           null::integer as chars
      from chain c
      join messages m on m.turn_id = c.id
     where c.turn_type = 'normal'
    union all
    select 'task', m.turn_id, -2, 0, m.sequence, 'user', _blocks(m.content), null
      from messages m
     where m.turn_id = (select root_turn_id from cut where last_turn_id is not null) and m.role = 'user'
    union all
    select 'stubs', null, -1, 2 * e.ordinality::integer, 0, 'user',
           case when e.ordinality < cardinality(p_elisions) or e.stubs::text = '[]' then _blocks(e.stubs)
                else _with_breakpoint(_blocks(e.stubs), p_ttl) end, null
      from unnest(p_elisions) with ordinality as e
    union all
    -- Before the first stub. The text of a compaction comes before it and needs no introduction.
    select 'stubs', null, -1, 2 * min(e.ordinality)::integer - 1, 0, 'user',
           _text_block('[engine] Closed blocks of your work follow, as you recorded them; recall_block(n, query) brings back their calls and results.'),
           null
      from unnest(p_elisions) with ordinality as e
     where e.ordinal > 0
    having count(*) > 0
    union all
    select s.kind, null, -1, 2147483646, s.n, 'user', _text_block(s.said), null
      from unnest(p_elisions[cardinality(p_elisions):]) as e
     cross join lateral (values ('stubs', 0, e.standing ->> 'text'), ('kept', 1, _kept_block(e))) as s(kind, n, said)
     where s.said <> ''
    union all
    select s.kind, c.id, c.depth * 2 + 2, s.rank, s.ordinal, 'user', s.blocks, s.chars
      from chain c
      -- Turn by turn (offset 0), even if the tables are so new that they have no statistics.
      cross join lateral (
        select shown.kind, shown.rank, k.ordinal, shown.blocks, shown.chars
          from tool_calls k
          cross join lateral (
            select case
                     when c.depth < (select max_result_depth from cut) and k.effect = coalesce((select max_result_effect from cut), k.effect)
                       then _shortened(k, (select max_result_chars from cut))
                     else k.result
                   end as content) r
          cross join lateral _shown_result(k, r.content) shown
         where k.turn_id = c.id and k.parent_call_id is null and k.completed_at is not null
        offset 0) s
    union all
    select 'said', null, 2147483647, 2, 0, 'user', p_query_blocks, null
     where p_query_blocks <> ''
  )
  select p.kind, p.turn_id, p."position", p.rank, p.ordinal, p.role, p.blocks,
         coalesce(p.chars, char_length(p.blocks) + 4700 * regexp_count(p.blocks, '"source":\{"type":"artifact"'))
    from part p
   where p.blocks <> ''
   order by p."position", p.rank, p.ordinal;
$$;

comment on function _message_parts(uuid, elisions[], text, uuid, text) is
  'The parts of a request''s messages, in order: the task, the stubs of each cut, where the agent stands and what it keeps by the newest cut, then for each turn shown: what was said, the response, each result, images of failed calls. p_elisions: the cuts, oldest first; null: none. p_query_blocks: what the request says to the model besides results. p_after_turn_id: only the turns after it. p_ttl as in _messages().';

create or replace function _blocks(p_content json)
  returns text
  language sql
  immutable
  parallel safe
  -- Counts bytes: counting characters would walk the whole text twice.
  return convert_from(substring(convert_to(p_content::text, 'UTF8') from 2 for octet_length(p_content::text) - 2), 'UTF8');

comment on function _blocks(json) is 'A list of blocks as text, without its brackets.';

create or replace function _with_breakpoint(p_blocks text, p_ttl text)
  returns text
  language sql
  immutable
  parallel safe
  return convert_from(substring(convert_to(p_blocks, 'UTF8') from 1 for octet_length(p_blocks) - 1), 'UTF8')
    || ',"cache_control":' || _cache_control(p_ttl) || '}';

comment on function _with_breakpoint(text, text) is 'Blocks as text, with a cache breakpoint on the last one.';

create or replace function _shortened(p_call tool_calls, p_max_chars integer)
  returns json
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select case when _content_chars(p_call.result) <= p_max_chars then p_call.result
              else to_json(_excerpt(
                coalesce((select content from artifacts where content_hash = p_call.artifact_hash), _result_text(p_call.result)),
                p_max_chars)) end;
$$;

comment on function _shortened(tool_calls, integer) is 'A result as it is or, if longer than p_max_chars, its head, tail and handle.';

create or replace function _shown_result(p_call tool_calls, p_content json)
  returns table (kind text, rank integer, blocks text, chars integer)
  language plpgsql
  stable
  rows 1
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_content json;
  v_images text;
begin
  if p_call.is_error and json_typeof(p_content) = 'array' then
    select ('[' || coalesce(
             string_agg(b.value::text, ',' order by b.n) filter (where b.value ->> 'type' <> 'image'),
             _text_block('(no output but an image, which follows)')) || ']')::json,
           string_agg(b.value::text, ',' order by b.n) filter (where b.value ->> 'type' = 'image')
      into v_content, v_images
      from json_array_elements(p_content) with ordinality as b(value, n);
    p_content := case when v_images is null then p_content else v_content end;
  end if;
  kind := 'result';
  rank := 0;
  blocks := '{"type":"tool_result","tool_use_id":' || to_json(p_call.provider_id)::text || ',"content":' || p_content::text
    || case when p_call.is_error then ',"is_error":true}' else '}' end;
  chars := _content_chars(p_content) + 70;
  return next;
  if v_images is not null then
    kind := 'image';
    rank := 1;
    blocks := _text_block(format('[engine] From the result of call %s (%s), which failed:', p_call.ordinal + 1, _one_line(p_call.tool_name, 64)))
      || ',' || v_images;
    chars := _content_chars(('[' || blocks || ']')::json);
    return next;
  end if;
end
$$;

comment on function _shown_result(tool_calls, json) is
  'How requests show a result (p_content: the result, or the shortened one): one tool_result block; the images of a failed call follow after the results, since the API accepts only text in an error result.';

create or replace function _query_blocks(p_turn_id uuid)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce(string_agg(_blocks(content), ',' order by sequence), '')
    from messages
   where turn_id = p_turn_id and role = 'user';
$$;

comment on function _query_blocks(uuid) is 'The content blocks of a turn''s request to the model other than tool results, as text.';
