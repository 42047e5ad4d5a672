-- Assembles one past request under another context policy: what it leaves out, and the size of its parts.

create or replace function _edited_ahead(p_turns turns[], p_ahead integer)
  returns text[]
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce(array_agg(f.target order by f.n), '{}')
    from (
      select x.target, min(c.n) as n
        from (select k.id, row_number() over (order by t.depth, k.ordinal) as n
                from unnest(p_turns) t
                join tool_calls k on k.turn_id = t.id
               where k.parent_call_id is null and k.tool_name <> 'ledger_append') c
        join touches x on x.tool_call_id = c.id
       where c.n <= p_ahead and x.kind = 'path' and x.action in ('create', 'modify')
       group by x.target
       order by 2
       limit 20) f;
$$;

comment on function _edited_ahead(turns[], integer) is 'The files that the first p_ahead calls of these turns change, in that order, at most 20: what an agent that knew the future would have named in keep.';

create or replace function _edited_lines_ahead(p_head turns, p_turns turns[], p_ahead integer, p_lines integer)
  returns text[]
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with edit as (
    select x.target, c.n, e.old
      from (select k.id, k.input, row_number() over (order by t.depth, k.ordinal) as n
              from unnest(p_turns) t
              join tool_calls k on k.turn_id = t.id
             where k.parent_call_id is null and k.tool_name <> 'ledger_append') c
      join touches x on x.tool_call_id = c.id
      left join lateral _edits_of(_jsonb_of(c.input), x.target) e on true
     where c.n <= p_ahead and x.kind = 'path' and x.action = 'modify'
  ),
  file as (
    select t.target, array_to_string(f.lines, E'\n', E'\x01') as content
      from (select distinct target from edit) t
     cross join lateral _kept_named(p_head, p_head.depth, array[t.target]) k
     cross join lateral _file_seen(k.calls, t.target, null, null, null) f
  ),
  place as (
    -- A place that only an earlier edit creates cannot be named yet. If the file's content is not known, the whole file is named.
    select e.target, e.n, l.line - p_lines / 2 as first, l.line + regexp_count(e.old, E'\n') + p_lines / 2 as last, f.content is null as is_whole
      from edit e
      join file f using (target)
     cross join lateral (select regexp_count(left(f.content, nullif(strpos(f.content, e.old), 0)), E'\n') + 1 as line) l
     where f.content is null or l.line is not null
  ),
  part as (
    select p.*, count(*) filter (where p.is_new) over (partition by p.target order by p.first, p.n) as part
      from (select *,
                   first > max(last) over (partition by target order by first, n rows between unbounded preceding and 1 preceding) is not false as is_new
              from place) p
  )
  select coalesce(array_agg(v.name order by v.n), '{}')
    from (select case when bool_or(is_whole) then target else format('%s:%s-%s', target, greatest(min(first), 1), max(last)) end as name, min(n) as n
            from part
           group by target, part
           order by 2
           limit 20) v;
$$;

comment on function _edited_lines_ahead(turns, turns[], integer, integer) is
  'As _edited_ahead(), but of each file only the lines that are changed, with p_lines more around them, as they stand after p_head.';

create or replace function _replay_names(p_names text[], p_turn turns, p_turns turns[], p_keep jsonb)
  returns text[]
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select case
           when _boundary(p_turn.id) is null then p_names
           when p_keep ->> 'ahead' is null then _keep_of(p_turn)
           when p_keep ->> 'lines' is null then _edited_ahead(p_turns, (p_keep ->> 'ahead')::integer)
           else _edited_lines_ahead(p_turn, p_turns, (p_keep ->> 'ahead')::integer, (p_keep ->> 'lines')::integer) end;
$$;

comment on function _replay_names(text[], turns, turns[], jsonb) is
  'What the newest step up to p_turn named: p_names, if that turn recorded none. p_keep: as in context_replay(); then in its place what the next calls, of p_turns, change.';

create or replace function _replay_compaction(
    p_item work_items,
    p_focus foci,
    p_engage jsonb,
    p_turns turns[],
    p_cuts elisions[],
    p_limit integer,
    p_tokens integer,
    p_names text[])
  returns elisions
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_head turns := p_turns[cardinality(p_turns)];
  v_state context_state := row(p_item, p_focus, p_engage, v_head, p_cuts, _shown_turns(v_head, p_cuts[cardinality(p_cuts)]));
  v_keep integer := greatest(1, ceil((p_engage ->> 'compact_keep_recent')::numeric / 2));
  v_chars_per_token numeric := 10000.0 / _tokens(10000, p_engage ->> 'model');
  v_told_chars integer := least(p_limit * 0.2 * v_chars_per_token, 10000000);
  v_before bigint := _parts_chars(v_head.id, p_cuts, '');
  v_after bigint;
  v_cut elisions;
begin
  v_cut := _strategy_cut(v_state, v_keep, 'context_limit', v_told_chars, p_names);
  if v_cut.id is not null then
    v_after := _parts_chars(v_head.id, _with_cut(p_cuts, v_cut), '');
    if v_after <= 0.9 * v_before and p_tokens * v_after::numeric / v_before <= p_limit then
      return v_cut;
    end if;
  end if;
  v_cut := _with_kept(
    _compaction_cut(v_state, v_keep, 'context_limit',
      _ledger_block(p_item.id, least(p_limit * 0.4 * v_chars_per_token, 10000000)::integer,
                    (select coalesce(max(l.seq), 0) from work_ledger l join unnest(p_turns) t on t.id = l.turn_id where l.work_item_id = p_item.id)),
      v_told_chars, null),
    v_head, p_names, p_engage);
  if v_cut.id is not null and (p_tokens > p_limit or _parts_chars(v_head.id, array[v_cut], '') <= 0.9 * v_before) then
    return v_cut;
  end if;
  return null;
end
$$;

comment on function _replay_compaction(work_items, foci, jsonb, turns[], elisions[], integer, integer, text[]) is
  'The cut (not stored) that a compaction after the last of p_turns would make, if the next request has p_tokens tokens; null: nothing would be gained. p_names: what the newest step until then named. No model is asked, so the ledger replaces old turns even where the engine would ask for a summary.';

create or replace function _replay_sizes(p_turns turns[], p_model text, out prefix_tokens integer, out per_char jsonb)
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_default double precision := _tokens(1000000, p_model) / 1000000.0;
  v_task_chars integer := char_length(_query_blocks((p_turns[1]).id));
  v_growth integer;
  v_chars integer;
begin
  per_char := jsonb_build_object('default', v_default);
  prefix_tokens := case
    when _input_total(p_turns[1]) > v_task_chars * v_default then _input_total(p_turns[1]) - ceil(v_task_chars * v_default)
    else ceil(_config_chars(p_turns[1]) * v_default) end;
  for v_n in 1 .. cardinality(p_turns) - 1 loop
    v_growth := _input_total(p_turns[v_n + 1]) - _input_total(p_turns[v_n]);
    v_chars := _exchange_chars((p_turns[v_n]).id) + char_length(_query_blocks((p_turns[v_n + 1]).id));
    -- If a cut in between made the request smaller than the conversation, the default ratio is used.
    if _input_total(p_turns[v_n]) > 0 and v_growth > 0 and v_chars > 0
      and ((p_turns[v_n + 1]).elision_id is not distinct from (p_turns[v_n]).elision_id or (p_turns[v_n]).provider = 'replay') then
      per_char := per_char || jsonb_build_object((p_turns[v_n]).id::text, v_growth::double precision / v_chars);
    end if;
  end loop;
end
$$;

comment on function _replay_sizes(turns[], text) is
  'prefix_tokens: tokens of system prompt and tools. per_char: tokens per character of each turn''s exchange, {turn id: ratio}, from what the provider counted for the next request; "default": the model''s ratio, for all other turns.';

create or replace function _replay_parts(
    p_turn turns,
    p_cuts elisions[],
    p_sizes jsonb,
    p_policy jsonb,
    p_cleared integer,
    p_prefix integer,
    out keys bigint[],
    out tokens integer[],
    out ends boolean[],
    out depths integer[],
    out texts text[],
    out cleared integer,
    out kinds text[])
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_default double precision := (p_sizes ->> 'default')::double precision;
  v_results integer[]; -- positions of the results
begin
  -- Stubs are compared one by one, however the rows group them. The task has the same size before stubs and in its own turn.
  select array_agg(hashtextextended(v.text, 0) order by v.n), array_agg(v.tokens order by v.n), array_agg(v.is_end order by v.n),
         array_agg(v.depth order by v.n), array_agg(v.text order by v.n), array_agg(v.n order by v.n) filter (where v.kind = 'result'),
         array_agg(v.part order by v.n)
    into keys, tokens, ends, depths, texts, v_results, kinds
    from (
      select row_number() over (order by p."position", p.rank, p.ordinal, s.n)::integer as n, p.kind,
             case
               when p.kind = 'said' then coalesce(_told_part(m, t.parent_turn_id is null), 'engine')
               when p.kind not in ('response', 'result', 'image') then p.kind
               when t.block < p_turn.block - 1 or t.block < p_turn.block and _block_of(t) < p_turn.block then 'closed'
               when p.kind = 'response' then 'words'
               else 'results' end as part,
             case when p.kind in ('response', 'result') then t.depth end as depth,
             coalesce(_text_block(s.value ->> 'text'), p.blocks) as text,
             ceil(coalesce(char_length(s.value ->> 'text') + 27, p.chars)
               * coalesce(
                 (p_sizes ->> case p.kind
                   when 'said' then t.parent_turn_id
                   when 'task' then null
                   else p.turn_id end::text)::double precision,
                 v_default))::integer as tokens,
             -- The last stub, not the standing after it, which differs with each cut.
             p.kind = 'stubs' and p.rank < 2147483646
               and lead(case when p.rank < 2147483646 then p.kind end) over (order by p."position", p.rank, p.ordinal, s.n) is distinct from 'stubs' as is_end
        from _message_parts(p_turn.id, p_cuts, '') p
        left join lateral json_array_elements(case p.kind when 'stubs' then ('[' || p.blocks || ']')::json end) with ordinality as s(value, n) on true
        left join turns t on t.id = p.turn_id
        left join messages m on p.kind = 'said' and m.turn_id = p.turn_id and m.sequence = p.ordinal and m.role = 'user'
       where (p.kind = 'said' or p.turn_id is distinct from p_turn.id) -- its own response is not part of its request
         and (p_policy -> 'keep_messages' is null or p.kind in ('task', 'said')
           or t.depth >= p_turn.depth - ceil((p_policy ->> 'keep_messages')::numeric / 2))
    ) v;
  cleared := p_cleared;
  if p_policy -> 'clear_results_over' is null then
    return;
  end if;
  for v_pass in 1 .. 2 loop
    for v_i in 1 .. least(cleared, cardinality(v_results)) loop
      if tokens[v_results[v_i]] > 12 then
        tokens[v_results[v_i]] := 12;
        keys[v_results[v_i]] := keys[v_results[v_i]] + 1;
        texts[v_results[v_i]] := '{"type":"tool_result"}';
      end if;
    end loop;
    exit when p_prefix + _sum(tokens) <= (p_policy ->> 'clear_results_over')::integer;
    cleared := greatest(cleared, cardinality(v_results) - coalesce((p_policy ->> 'clear_keep')::integer, 3));
  end loop;
end
$$;

comment on function _replay_parts(turns, elisions[], jsonb, jsonb, integer, integer) is
  'The parts of a turn''s request under a policy, in order, as arrays: keys (hashes of the content), tokens, ends (whether a cache breakpoint follows), depths (of the turn, for responses and results), texts (the blocks), kinds (as the columns of turn_sizes); and cleared: how many results are cleared so far.';

create or replace function _sum(p_numbers integer[])
  returns integer
  language sql
  immutable
  parallel safe
  return (select coalesce(sum(n), 0)::integer from unnest(p_numbers) n);

comment on function _sum(integer[]) is 'The sum of an array.';
