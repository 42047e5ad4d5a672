-- The size of each request by part, updated turn by turn. While the same cut is in force, a request is the previous one, the exchange since then and what
-- is said now; only the first request with a new cut is walked.

create or replace function _turn_sizes_store(p_turn turns)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_flags iteration_flags;
begin
  v_flags.last := (select t from turns t where t.id = p_turn.parent_turn_id);
  if (v_flags.last).turn_type = 'normal' then
    v_flags.exchange := (select e from _exchange(p_turn.parent_turn_id) e);
    v_flags.boundary := case when p_turn.block <> (v_flags.last).block then _boundary(p_turn.parent_turn_id) end;
  end if;
  perform _turn_sizes_store(p_turn, v_flags, true);
end
$$;

comment on function _turn_sizes_store(turns) is 'Stores the sizes of a new turn''s request, when all that it says is stored.';

create or replace function _turn_sizes_store(p_turn turns, p_flags iteration_flags, p_is_told boolean)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_parent turns := p_flags.last;
  v_before turn_sizes;
  v_words integer := 0;
  v_results integer := 0;
  v_task integer := 0;
  v_digest integer := 0;
  v_people integer := 0;
  v_engine integer := 0;
  v_boundary text;
  v_parts record;
begin
  if v_parent.id is not null then
    select * into v_before from turn_sizes where turn_id = v_parent.id;
  end if;
  if v_parent.turn_type = 'normal' then
    v_words := (p_flags.exchange).word_chars;
    v_results := (p_flags.exchange).result_chars;
  end if;
  if p_is_told then
    select task, digest, people, engine into v_task, v_digest, v_people, v_engine from _told_sizes(p_turn);
  end if;
  if p_turn.turn_type <> 'normal' or v_parent.id is null then
    select 0 as task, 0 as digest, 0 as stubs, 0 as kept, 0 as closed, 0 as words, 0 as results, 0 as people, 0 as engine into v_parts;
  elsif v_before.turn_id is not null and v_parent.turn_type = 'normal' and v_parent.elision_id is not distinct from p_turn.elision_id then
    v_parts := v_before;
    v_boundary := case when p_turn.block <> v_parent.block then coalesce(p_flags.boundary, 'after') end;
    if v_boundary is not null then
      v_parts.closed := v_parts.closed + v_parts.words + v_parts.results;
      v_parts.words := 0;
      v_parts.results := 0;
    end if;
    if v_boundary = 'after' then
      v_parts.closed := v_parts.closed + v_words + v_results;
    else
      v_parts.words := v_parts.words + v_words;
      v_parts.results := v_parts.results + v_results;
    end if;
  else
    v_parts := _request_sizes(p_turn);
  end if;
  insert into turn_sizes (turn_id, call_number, leap_turn_id, said, task, digest, stubs, kept, closed, words, results, people, engine)
  values (
    p_turn.id, coalesce(v_before.call_number, 0) + case p_turn.turn_type when 'normal' then 1 else 0 end,
    case when v_parent.id is null then p_turn.id else _leap_of(v_parent) end,
    case when v_parent.id is null or v_before.turn_id is not null then coalesce(v_before.said, 0) + v_words + v_results
         else _parts_chars(v_parent.id, null, '') end + v_task + v_digest + v_people + v_engine,
    v_parts.task + v_task, v_parts.digest + v_digest, v_parts.stubs, v_parts.kept, v_parts.closed, v_parts.words, v_parts.results,
    v_parts.people + v_people, v_parts.engine + v_engine);
end
$$;

comment on function _turn_sizes_store(turns, iteration_flags, boolean) is '_turn_sizes_store() by whoever has the flags of its parent, and knows whether the turn says anything.';

create or replace function _turn_sizes_renew(p_turn turns)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  delete from turn_sizes where turn_id = p_turn.id;
  perform _turn_sizes_store(p_turn);
end
$$;

comment on function _turn_sizes_renew(turns) is 'Stores the sizes of a turn''s request again, because something was added to what it says.';

create or replace function _blocks_chars(p_blocks text)
  returns integer
  language sql
  immutable
  parallel safe
  return char_length(p_blocks) + 4700 * regexp_count(p_blocks, '"source":\{"type":"artifact"');

comment on function _blocks_chars(text) is 'Characters of content blocks in a request; an image counts as in _content_chars().';

create or replace function _exchange(p_turn_id uuid)
  returns setof exchange
  language sql
  stable
  rows 1
begin atomic
  select p_turn_id, r.blocks, coalesce(string_agg(s.blocks, ',' order by s.rank, k.ordinal), ''),
           (r.count + coalesce(sum(case s.kind when 'result' then 1 else json_array_length(('[' || s.blocks || ']')::json) end), 0))::integer,
           r.chars::integer, coalesce(sum(s.chars), 0)::integer,
           -- What is shown of a failed call has its images separately.
           coalesce(sum(case when k.is_error then _content_chars(k.result) else s.chars - 70 end) filter (where s.kind = 'result'), 0)::integer
    from (select coalesce(string_agg(b.blocks, ',' order by m.sequence), '') as blocks, coalesce(sum(json_array_length(c.content)), 0) as count,
                 coalesce(sum(_blocks_chars(b.blocks)), 0) as chars
            from messages m
           cross join lateral (select coalesce(m.sent_content, m.content) as content) c
           cross join lateral (select _blocks(c.content) as blocks offset 0) b -- evaluated once
           where m.turn_id = p_turn_id and m.role = 'assistant') r
    left join tool_calls k on k.turn_id = p_turn_id and k.parent_call_id is null and k.completed_at is not null
    left join lateral _shown_result(k, k.result) s on k.id is not null
   group by r.blocks, r.count, r.chars;
end;

comment on function _exchange(uuid) is 'A turn''s response and the results of its calls, as requests show them.';

create or replace function _told_part(p_message messages, p_is_root boolean)
  returns text
  language sql
  immutable
  return case
           when p_is_root then 'task'
           when p_message.metadata ->> 'kind' = 'digest' then 'digest'
           when p_message.source = 'human' then 'people'
           else 'engine' end;

comment on function _told_part(messages, boolean) is 'Which part of a request a message to the model is: task (what the first turn says), digest, people or engine.';

create or replace function _told_sizes(p_turn turns, out task integer, out digest integer, out people integer, out engine integer)
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce(sum(u.chars) filter (where u.part = 'task'), 0)::integer - coalesce(sum(u.news) filter (where u.part = 'task'), 0)::integer,
         coalesce(sum(u.chars) filter (where u.part = 'digest'), 0)::integer + coalesce(sum(u.news) filter (where u.part = 'task'), 0)::integer,
         coalesce(sum(u.chars) filter (where u.part = 'people'), 0)::integer,
         coalesce(sum(u.chars) filter (where u.part = 'engine'), 0)::integer
    from (select _told_part(m, p_turn.parent_turn_id is null) as part, _blocks_chars(_blocks(m.content)) as chars, _digest_chars(m) as news
            from messages m
           where m.turn_id = p_turn.id and m.role = 'user') u;
$$;

comment on function _told_sizes(turns) is 'Characters of what a turn says to the model besides results, by part; the digest in the first message apart from its task.';

create or replace function _digest_chars(p_message messages)
  returns integer
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select case when p_message.context ? 'shown' and p_message.metadata ->> 'kind' = 'task'
              then coalesce(char_length(substring(p_message.content::text from '\\n\\n[^\\]*What else is going on.*$')), 0) else 0 end;
$$;

comment on function _digest_chars(messages) is 'Characters of the awareness digest at the end of a task; 0: it has none.';

create or replace function _request_sizes(
    p_turn turns,
    out task integer, out digest integer, out stubs integer, out kept integer, out closed integer, out words integer, out results integer,
    out people integer, out engine integer)
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with part as (
    select p.chars,
           case
             when p.kind = 'said' then _told_part(m, t.parent_turn_id is null)
             when p.kind not in ('response', 'result', 'image') then p.kind
             when b.block < p_turn.block then 'closed'
             when p.kind = 'response' then 'words'
             else 'results' end as kind,
           case when p.kind = 'task' or t.parent_turn_id is null and p.kind = 'said' then _digest_chars(m) else 0 end as news
      from _message_parts(p_turn.parent_turn_id, _elision_chain(p_turn.elision_id), '') p
      left join turns t on t.id = p.turn_id
      left join lateral _exchange_blocks(t.id, t.work_item_id, t.block) b on true
      left join messages m on m.turn_id = p.turn_id and m.sequence = p.ordinal and m.role = 'user' and p.kind in ('said', 'task')
  )
  select (coalesce(sum(p.chars) filter (where p.kind = 'task'), 0) - coalesce(sum(p.news), 0))::integer,
         (coalesce(sum(p.chars) filter (where p.kind = 'digest'), 0) + coalesce(sum(p.news), 0))::integer,
         coalesce(sum(p.chars) filter (where p.kind = 'stubs'), 0)::integer, coalesce(sum(p.chars) filter (where p.kind = 'kept'), 0)::integer,
         coalesce(sum(p.chars) filter (where p.kind = 'closed'), 0)::integer, coalesce(sum(p.chars) filter (where p.kind = 'words'), 0)::integer,
         coalesce(sum(p.chars) filter (where p.kind = 'results'), 0)::integer,
         coalesce(sum(p.chars) filter (where p.kind = 'people'), 0)::integer, coalesce(sum(p.chars) filter (where p.kind = 'engine'), 0)::integer
    from part p;
$$;

comment on function _request_sizes(turns) is 'Characters of a turn''s request by part, from a walk over what it shows; without what the turn itself says.';
