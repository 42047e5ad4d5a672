-- Explains what in a request led to its answer: exact quotes with their sources, what the request contained, and what had been cut by then.

create or replace function work_because(p_turn_id uuid, p_tool_call_id uuid default null)
  returns table (
    kind text, part text, says text, quote text, parts bigint, tokens bigint, turn_id uuid, call_id uuid, work_item_id uuid, entry_seq integer, person text)
  language plpgsql
  stable
  rows 20
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
declare
  v_turn turns;
  v_said text;
begin
  select * into v_turn from turns where id = p_turn_id;
  if not found then
    perform _raise_not_found('turn', p_turn_id);
  elsif p_tool_call_id is not null and not exists (select from tool_calls k where k.id = p_tool_call_id and k.turn_id = p_turn_id) then
    perform _raise_not_found('call of this turn', p_tool_call_id);
  end if;
  v_said := left((
    select string_agg(s.text, E'\n\n')
      from (select m.n, coalesce(_said_in(m.content), '') as text
              from (select content, 0 as n from messages where turn_id = p_turn_id and role = 'assistant' and p_tool_call_id is null) m
            union all
            select 1, v.value #>> '{}'
              from tool_calls k cross join lateral jsonb_path_query(_jsonb_of(_call_input(k)), 'strict $.** ? (@.type() == "string")') v(value)
             where k.turn_id = p_turn_id and case when p_tool_call_id is null then k.parent_call_id is null else k.id = p_tool_call_id end) s), 4000);
  return query
    with held as materialized (select * from context_parts(p_turn_id)),
    quoted as materialized (
      select distinct on (q.quote) q.quote, h.n, h.part, h.turn_id
        from held h cross join lateral _quotes_of(v_said, h.content) q
       where h.part not in ('tools')
       order by q.quote, h.n desc),
    chosen as materialized (
      select q.* from quoted q where not exists (select from quoted l where l.quote <> q.quote and strpos(l.quote, q.quote) > 0)
       order by char_length(q.quote) desc, q.n limit 12)
    select 'quote', q.part, o.says, q.quote, null::bigint, null::bigint, coalesce(o.turn_id, q.turn_id), o.call_id, o.work_item_id, o.entry_seq, o.person
      from chosen q
      left join lateral _quote_origin(v_turn, q.part, q.turn_id, q.quote) o on true
    union all
    select 'held', h.part, min(h.why), null, count(*), sum(h.tokens), null, null, null, null, null from held h group by h.part
    union all
    select 'fork', 'turn', null, o.quote, null, null, t.parent_turn_id, null, null, null, null
      from (select 1) one
      left join lateral (select * from chosen c where c.part in ('message', 'human') order by char_length(c.quote) desc limit 1) o on true
      join turns t on t.id = coalesce(o.turn_id, p_turn_id)
     where t.parent_turn_id is not null
    union all
    (select 'cut', 'blocks', format('blocks %s to %s left the context in iteration %s%s', e.first_block, e.last_block, e.iteration,
                                    case when r.id is null then '' else ', and were recalled' end),
            null, (e.last_block - e.first_block + 1)::bigint, e.tokens_elided::bigint, r.turn_id, r.id, null, null, null
       from unnest(_elision_chain(v_turn.elision_id)) e
       left join lateral (
         select k.id, k.turn_id from tool_calls k join turns t on t.id = k.turn_id
          where k.work_item_id = v_turn.work_item_id and k.tool_name = 'recall_block' and k.status = 'completed' and t.depth < v_turn.depth
            and case when k.input ->> 'n' ~ '^\d{1,9}$' then (k.input ->> 'n')::integer end between e.first_block and e.last_block
          order by k.id desc limit 1) r on true
      where e.last_block is not null
      order by e.ordinal desc limit 20);
end
$$;

comment on function work_because(uuid, uuid) is
  'What in a turn''s request led to its answer: select kind, part, says, quote from work_because(''TURN''). p_tool_call_id: only what led to this call of the turn. kind quote: words of the answer (for a call: texts of its input), at least five words and 24 characters, that occur in the request exactly; the 12 longest. part: which part of it (named as in context_parts()). turn_id: the turn that told or answered it. call_id: the call whose result has it; says: that call''s tool and what it was for. work_item_id, entry_seq: the entry that a digest told. person: who said it. Each is null where the rows do not say. It claims no more than an exact quote. kind held: how many parts of each kind the request contained, how many tokens, and why. kind cut: blocks that had left the context by then, newest first, at most 20; call_id: the call that recalled one of them earlier. kind fork: the turn before a person said the quoted words (quote), else the turn before this one: work_fork() from it continues without them. Only the first 4,000 characters of the answer are looked for. Raises WL001, WL002 (a summary''s turn).';

create or replace function _quotes_of(p_said text, p_content text)
  returns table (quote text)
  language plpgsql
  immutable
  rows 1
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_words text[] := regexp_split_to_array(coalesce(p_said, ''), '(?<=\S)(?=\s)');
  v_quote text;
  v_first integer := 1;
  v_last integer;
begin
  -- Each piece is a word with the space before it, so that consecutive pieces join to the original text.
  while v_first + 4 <= cardinality(v_words) loop
    v_last := v_first + 4;
    v_quote := regexp_replace(array_to_string(v_words[v_first:v_last], ''), '^\s+', '');
    if strpos(p_content, v_quote) = 0 then
      v_first := v_first + 1;
      continue;
    end if;
    while v_last < cardinality(v_words) and strpos(p_content, v_quote || v_words[v_last + 1]) > 0 loop
      v_last := v_last + 1;
      v_quote := v_quote || v_words[v_last];
    end loop;
    if char_length(v_quote) >= 24 then
      quote := v_quote;
      return next;
    end if;
    v_first := v_last + 1;
  end loop;
end
$$;

comment on function _quotes_of(text, text) is 'The runs of five words and 24 characters or more of a text that stand in another exactly so, each as long as it can be.';

create or replace function _quote_origin(
    p_turn turns, p_part text, p_told_in uuid, p_quote text,
    out says text, out turn_id uuid, out call_id uuid, out work_item_id uuid, out entry_seq integer, out person text)
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_variable
begin
  if p_part in ('result', 'kept') then
    select k.turn_id, k.id, concat_ws(' ', k.tool_name, left(coalesce(k.input ->> 'path', k.input ->> 'file_path', k.input ->> 'command'), 200))
      into turn_id, call_id, says
      from tool_calls k
     where k.turn_id = p_told_in and strpos(_result_text(k.result), p_quote) > 0
     order by k.ordinal limit 1;
  elsif p_part in ('task', 'digest') then -- the first digest comes with the task
    select s.turn_id, s.work_item_id, s.seq, l.entry_type into turn_id, work_item_id, entry_seq, says
      from awareness_shown s
      join work_ledger l on l.work_item_id = s.work_item_id and l.seq = s.seq
     where s.focus_id = p_turn.focus_id and (s.turn_id = p_told_in or s.turn_id is null) and strpos(l.content, p_quote) > 0
     order by s.shown_at desc limit 1;
  elsif p_part in ('message', 'human', 'agent_message', 'child_result') then
    select i.person, i.source_work_item_id into person, work_item_id
      from messages m join inbox i on i.id = (m.metadata ->> 'inbox_id')::uuid
     where m.turn_id = p_told_in and m.role = 'user' and strpos(i.content, p_quote) > 0
     limit 1;
  end if;
  if p_part = 'task' and entry_seq is null then
    select w.submitted_by::text into person from work_items w where w.id = p_turn.work_item_id and strpos(w.description, p_quote) > 0;
  end if;
end
$$;

comment on function _quote_origin(turns, text, uuid, text) is 'Where a quote of a request comes from, as far as rows say: a call, an entry that was told, a person.';
