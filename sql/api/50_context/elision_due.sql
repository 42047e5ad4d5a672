-- Decides whether the next request leaves out closed blocks (an elision): once, when its turn is created.

create or replace function _elision_due(p_item work_items, p_focus foci, p_engage jsonb, p_head turns, p_boundary text, p_cuts elisions[], p_keep text[])
  returns elisions[]
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_model text := p_engage ->> 'model';
  v_open integer := _next_block(p_head, p_boundary);
  v_current elisions := p_cuts[cardinality(p_cuts)];
  v_due elisions;
  v_merged_from integer;
  v_shown turns[];
  v_closed turns[];
  v_closed_chars bigint;
  v_kept_chars bigint;
  v_said_chars bigint;
  v_stubs text;
begin
  -- Only right after a block closes: at most one exchange comes after it then, so at no other moment does so little have to be written to the
  -- provider's cache again.
  if p_boundary is null or not (p_engage ->> 'truncate_closed_blocks')::boolean then
    return p_cuts;
  end if;
  v_shown := _shown_turns(p_head, v_current);
  select coalesce(sum(_exchange_chars(t.id)) filter (where b.block < v_open), 0),
         coalesce(sum(_exchange_chars(t.id)) filter (where b.block >= v_open), 0),
         -- Messages during a block leave with it; people's messages come back in its stub. The task stays.
         coalesce(sum(char_length(_query_blocks(t.id))) filter (where b.block < v_open and t.parent_turn_id is not null), 0),
         array_agg(t order by t.depth) filter (where b.block < v_open)
    into v_closed_chars, v_kept_chars, v_said_chars, v_closed
    from unnest(v_shown) t
    cross join lateral _exchange_blocks(t.id, t.work_item_id, t.block) b;
  if _tokens(v_closed_chars, v_model) <= (p_engage ->> 'elide_budget')::integer * (1 + 3 * _waits_for_thinking(p_head, p_boundary, p_engage)::integer) then
    return p_cuts;
  end if;
  v_due.id := _uuidv7();
  v_due.ordinal := coalesce(v_current.ordinal, 0) + 1;
  v_merged_from := v_due.ordinal & (v_due.ordinal - 1); -- the ordinal without its lowest set bit
  select id into v_due.previous_id from unnest(p_cuts) where ordinal <= v_merged_from order by ordinal desc limit 1;
  v_due.work_item_id := p_item.id;
  v_due.focus_id := p_focus.id;
  v_due.iteration := p_focus.iteration + 1;
  v_due.depth := greatest(p_head.depth + 1, v_current.depth); -- a compaction turn may be in between
  v_due.thinking_depth := _thinking_depth(p_head, p_engage);
  v_due.root_turn_id := coalesce(v_current.root_turn_id, (v_shown[1]).id);
  v_due.first_block := coalesce(v_current.last_block + 1, (v_shown[1]).block);
  v_due.last_block := v_open - 1;
  v_due.last_turn_id := v_closed[cardinality(v_closed)].id;
  if v_due.last_turn_id is null then
    return p_cuts; -- a step in the very first response: no turn is in a closed block
  end if;
  select coalesce(max(l.seq), v_current.last_seq, 0)
    into v_due.last_seq
    from unnest(v_closed) t
    join work_ledger l on l.work_item_id = t.work_item_id and l.seq > coalesce(v_current.last_seq, 0) and l.turn_id = t.id;
  v_stubs := _stubs_of(v_due, v_shown, coalesce(v_current.last_seq, 0));
  v_due.stubs := '[' || concat_ws(',', (
    select string_agg(_blocks(c.stubs), ',' order by c.ordinal) from unnest(p_cuts) c where c.ordinal > v_merged_from), v_stubs) || ']';
  v_due := _with_kept(v_due, p_head, coalesce(p_keep, _keep_of(p_head)), p_engage);
  v_due := _with_standing(v_due, p_item, v_current, v_closed, v_shown[cardinality(v_closed) + 1 :], 'stubs', _standing_room(p_engage));
  v_due.summary := v_current.summary;
  v_due.max_result_chars := v_current.max_result_chars;
  v_due.max_result_depth := v_current.max_result_depth;
  v_due.max_result_effect := v_current.max_result_effect;
  v_due.tokens_elided := _tokens(v_closed_chars + v_said_chars + coalesce(char_length(v_current.standing ->> 'text'), 0), v_model)
    + coalesce(v_current.kept_tokens, 0);
  v_due.tokens_kept := _tokens(v_kept_chars, v_model);
  v_due.stub_tokens := _tokens(char_length(v_stubs) + char_length(v_due.standing ->> 'text'), v_model);
  v_due.created_at := _now();
  if v_due.tokens_kept + v_due.kept_tokens > 1000 and _breaks_even_after(v_due, v_model) > 15 then
    return p_cuts; -- too much would have to be written to the cache again; the next boundary decides anew
  end if;
  return (select array_agg(c order by c.ordinal) from unnest(p_cuts) c where c.ordinal <= v_merged_from) || v_due;
end
$$;

comment on function _elision_due(work_items, foci, jsonb, turns, text, elisions[], text[]) is
  'The cuts for the request after p_head, whose _boundary() is p_boundary: p_cuts, those so far, and a new elision (not stored yet) if a block has just closed and the closed blocks hold more than elide_budget tokens (0: at every step). It waits if more than 1,000 tokens come after the stubs and it would pay only after more than 15 requests; and up to four times elide_budget while it would take the thinking of the response whose results are sent. p_engage: the [engage] part of a faculty. p_keep: what to keep, in place of what the newest step named; null: that.';

create or replace function _thinking_depth(p_head turns, p_engage jsonb)
  returns integer
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select p_head.depth + case when _binds_thinking(p_engage) then 1 else 0 end;
$$;

comment on function _thinking_depth(turns, jsonb) is 'elisions.thinking_depth of a cut made for the request after p_head. In a tool loop the newest response goes back as it came, thinking included; but a model that binds thinking to all that is before it would refuse it behind a cut.';

create or replace function _binds_thinking(p_engage jsonb)
  returns boolean
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce(bool_or((_model_takes(m) ->> 'binds_thinking')::boolean), false)
    from unnest(array[p_engage ->> 'model', p_engage ->> 'fallback_model']) m
   where m is not null;
$$;

comment on function _binds_thinking(jsonb) is 'Whether one of the models of a faculty''s [engage] refuses thinking if anything before it has changed since.';

create or replace function _waits_for_thinking(p_head turns, p_boundary text, p_engage jsonb)
  returns boolean
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select p_boundary = 'before' and _binds_thinking(p_engage)
     and exists (select from messages m, json_array_elements(m.content) b
                  where m.turn_id = p_head.id and m.role = 'assistant' and b ->> 'type' in ('thinking', 'redacted_thinking'));
$$;

comment on function _waits_for_thinking(turns, text, jsonb) is 'Whether a cut at p_head, whose _boundary() is p_boundary, would take thinking from a response whose results the next request sends: its step came with other calls, it holds thinking, and the model binds that to all that is before it.';

create or replace function _keep_of(p_turn turns)
  returns text[]
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select _keep_at(p_turn.work_item_id, max(l.seq))
    from work_ledger l
   where l.work_item_id = p_turn.work_item_id and l.turn_id = p_turn.id and l.entry_type = 'step';
$$;

comment on function _keep_of(turns) is 'What the newest step of a turn keeps, see _keep_at(); null: nothing was named.';
