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
  v_focus_id uuid;
  v_blocks integer;
  v_text text;
begin
  select id into v_focus_id from foci where work_item_id = p_work_item_id order by attempt desc limit 1;
  if not found then
    perform _raise_not_found('work item with a focus', p_work_item_id);
  end if;
  select max(_block_of(t)) into v_blocks from turns t where t.focus_id = v_focus_id and t.status = 'completed' and t.turn_type = 'normal';
  if p_block is null or p_block not between 1 and coalesce(v_blocks, 0) then
    perform _raise_invalid(format('there is no block %s', p_block), format('Blocks 1 to %s are there.', coalesce(v_blocks, 0)));
  end if;
  select string_agg(part.text, E'\n\n' order by part.depth, part.rank, part.ordinal)
    into v_text
    from turns t
    cross join lateral (
      select t.depth, 0 as rank, 0 as ordinal, _response_text(t.id) as text
      union all
      select t.depth, 1, k.ordinal,
             format(E'> %s %s\n%s', k.tool_name, k.input, _result_text(k.result))
        from tool_calls k
       where k.turn_id = t.id and k.parent_call_id is null
    ) part
   where t.focus_id = v_focus_id and t.status = 'completed' and t.turn_type = 'normal' and t.block between p_block - 1 and p_block and _block_of(t) = p_block
     and part.text is not null;
  if p_query is not null and p_query <> '' then
    select string_agg(format('%s: %s', n, line), E'\n' order by n)
      into v_text
      from regexp_split_to_table(v_text, E'\n') with ordinality as l(line, n)
     where strpos(lower(line), lower(p_query)) > 0;
    v_text := coalesce(v_text, format('no line of block %s holds "%s"', p_block, _one_line(p_query, 100)));
  end if;
  return _cap_text(coalesce(v_text, '(the block is empty)'), 65536);
end
$$;

comment on function recall_block(uuid, integer, text) is
  'A block of a work item''s newest attempt in full: what the model said, its calls and their results; with p_query only the lines that hold it (in any case), numbered. At most about 64 KiB, head and tail of what is longer. Raises WL001, WL002 (no such block).';
