-- Returns a block that has left the context, verbatim.

create or replace function recall_block(
    p_work_item_id uuid,
    p_block integer,
    p_query text default null)
  returns text
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_head_id uuid := _newest_turn(p_work_item_id);
  v_turns uuid[];
  v_blocks integer;
  v_text text;
begin
  if not exists (select from work_items where id = p_work_item_id) then
    perform _raise_not_found('work item', p_work_item_id);
  end if;
  v_blocks := _block_of(_asking_turn(v_head_id));
  if p_block is null or p_block not between 1 and coalesce(v_blocks, 0) then
    perform _raise_invalid(format('there is no block %s', p_block),
      case when v_blocks is null then 'There are none yet.' else format('Blocks 1 to %s exist.', v_blocks) end);
  end if;
  v_turns := _turns_of_block(v_head_id, p_block);
  select string_agg(part.text, E'\n\n' order by t.n, part.rank, part.ordinal)
    into v_text
    from unnest(v_turns) with ordinality as t(id, n)
    cross join lateral (
      select 0 as rank, s.n as ordinal, '[you were told] ' || s.said as text from _told_in(t.id, true) s where s.n < 10000
      union all
      select 1, 0, _response_text(t.id)
      union all
      select 2, k.ordinal,
             format(E'> %s%s\nresult:\n%s', k.tool_name, _input_lines(k.input), _result_text(k.result))
        from tool_calls k
       where k.turn_id = t.id and k.parent_call_id is null
    ) part
   where part.text is not null;
  if p_query is not null and p_query <> '' then
    select string_agg(concat(case when n > before + 1 then E'--\n' end, n, case when is_hit then ': ' else '- ' end, line), E'\n' order by n)
      into v_text
      from (select near.*, lag(n) over (order by n) as before
              from (select l.*, bool_or(is_hit) over (order by n rows between 2 preceding and 2 following) as is_near
                      from (select n, line, strpos(lower(line), lower(p_query)) > 0 as is_hit
                              from regexp_split_to_table(v_text, E'\n') with ordinality as s(line, n)) l) near
             where is_near) shown;
    v_text := coalesce(v_text, format('no line of block %s contains "%s"', p_block, _one_line(p_query, 100)));
  end if;
  return _cap_text(coalesce(v_text, '(the block is empty)'), 65536);
end
$$;

comment on function recall_block(uuid, integer, text) is
  'A block of a work item''s conversation in full: messages to the agent, what the model said, its calls (inputs as lines "name: value", texts as they were) and their results (for images the handle; an agent that calls it is shown the newest ten). p_query: only the lines that contain this text (ignoring case), each with the two lines before and after it, numbered: "4: " starts a matching line, "3- " one next to it; -- separates places. The conversation is that of the newest attempt, including the turns from which it was forked; blocks with lower numbers belong to earlier attempts. Returns at most about 64 KiB: head and tail of longer text. Raises WL001, WL002 (no such block).';
