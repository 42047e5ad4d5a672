create or replace function _elision_due(p_item work_items, p_focus foci, p_head turns)
  returns elisions
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_engage jsonb := (select config -> 'engage' from faculties where content_hash = p_focus.faculty_hash);
  v_model text := v_engage ->> 'model';
  v_open integer := _next_block(p_head);
  v_current elisions;
  v_due elisions;
  v_shown turns[];
  v_closed_chars bigint;
  v_kept_chars bigint;
  v_stubs text;
begin
  select * into v_current from elisions where id = p_head.elision_id;
  -- Right after a block closed nothing, or only the riding exchange, stands behind it: at no other moment is so little
  -- written to the provider's cache again.
  if _boundary(p_head.id) is null or not (v_engage ->> 'truncate_closed_blocks')::boolean then
    return v_current;
  end if;
  -- The turns that are shown verbatim; what is elided already is not walked, so the cost does not grow with history.
  with recursive shown(turn) as (
    select h from turns h where h.id = p_head.id
    union all
    select p from shown s join turns p on p.id = (s.turn).parent_turn_id where p.id is distinct from v_current.last_turn_id
  )
  select array_agg(s.turn order by (s.turn).depth),
         coalesce(sum(_exchange_chars((s.turn).id)) filter (where _block_of(s.turn) < v_open), 0),
         coalesce(sum(_exchange_chars((s.turn).id)) filter (where _block_of(s.turn) >= v_open), 0)
    into v_shown, v_closed_chars, v_kept_chars
    from shown s;
  if _tokens(v_closed_chars, v_model) <= (v_engage ->> 'elide_budget')::integer then
    return v_current;
  end if;

  v_due.id := _uuidv7();
  v_due.previous_id := v_current.id;
  v_due.work_item_id := p_item.id;
  v_due.focus_id := p_focus.id;
  v_due.iteration := p_focus.iteration + 1;
  v_due.depth := p_head.depth + 1;
  v_due.root_turn_id := coalesce(v_current.root_turn_id, (v_shown[1]).id);
  v_due.first_block := coalesce(v_current.last_block, 0) + 1;
  v_due.last_block := v_open - 1;
  select t.id into v_due.last_turn_id from unnest(v_shown) t where _block_of(t) < v_open order by t.depth desc limit 1;
  if v_due.last_turn_id is null then
    return v_current; -- a step in the very first response: nothing lies behind it
  end if;
  select coalesce(max(l.seq), v_current.last_seq, 0)
    into v_due.last_seq
    from unnest(v_shown) t
    join work_ledger l on l.work_item_id = t.work_item_id and l.seq > coalesce(v_current.last_seq, 0) and l.turn_id = t.id
   where _block_of(t) < v_open;
  select string_agg(_text_block(stub), ',' order by n)
    into v_stubs
    from generate_series(v_due.first_block, v_due.last_block) as n
    cross join lateral _block_stub(v_shown, coalesce(v_current.last_seq, 0), n) as stub
   where stub <> '';
  v_due.stubs := '[' || v_stubs || ']';
  v_due.tokens_elided := _tokens(v_closed_chars, v_model);
  v_due.tokens_kept := _tokens(v_kept_chars, v_model);
  v_due.stub_tokens := _tokens(char_length(v_stubs), v_model);
  v_due.created_at := _now();
  return v_due;
end
$$;

comment on function _elision_due(work_items, foci, turns) is
  'The elision that holds for the request after p_head: a new one (not stored yet) when a block has just closed and the closed blocks hold more than the faculty''s elide_budget tokens (0: at every step); else the one before, or null.';
