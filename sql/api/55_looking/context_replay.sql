-- Replays a conversation to find what it would have cost under another context policy, without calling a model: every past request is assembled again by
-- the functions that assemble real ones, and compared with the previous one.

create or replace function context_replay(p_session text, p_policy jsonb default '{}')
  returns table (
    model_calls integer, input_tokens bigint, cached_input_tokens bigint, extra_output_tokens bigint, peak_tokens integer,
    cuts integer, cost numeric)
  language plpgsql
  volatile
  rows 1
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  return query
    select count(*)::integer, sum(r.input_tokens), sum(r.cached_tokens), sum(r.extra_output_tokens), max(r.input_tokens)::integer,
           (count(*) filter (where r.is_cut))::integer,
           round(sum(r.cached_tokens * p.cache_read + (r.input_tokens - r.cached_tokens) * p.cache_write + r.extra_output_tokens * p.output), 1)
      from context_replay_turns(p_session, p_policy) r
      join turns t on t.id = r.turn_id
      join foci f on f.id = t.focus_id
      join faculties c on c.content_hash = f.faculty_hash
      cross join lateral _relative_prices(c.config -> 'engage' ->> 'model', c.config -> 'engage' ->> 'cache_ttl') p;
end
$$;

comment on function context_replay(text, jsonb) is
  'What the requests of a session would have cost under another context policy: select * from context_replay(''…'', ''{"elide_budget": 0}''). p_policy: keys of a faculty''s [engage] (elide_budget, truncate_closed_blocks, keep_budget, keep_auto, compact_threshold, compact_keep_recent, compact_strategy, compact_every, context_window); keys that are not given keep the session''s values. For comparison also: keep ({"ahead": 20, "budget": 16000, "lines": 30}: each step keeps the files that the next "ahead" calls change; with lines, only the changed lines of each file and this many around them), keep_messages (a sliding window of that many messages), clear_results_over with clear_keep (above that many tokens, all results but the newest clear_keep are cleared). Returns model_calls; input_tokens; cached_input_tokens, which a prompt cache would have served; extra_output_tokens, which only this policy costs; peak_tokens, the largest request; cuts, the number of requests that newly left something out or changed what was sent before; cost in input tokens (cached and written input and extra output at the model''s relative prices, else 0.1, 1.25 and 5). Sizes are the provider''s counts where it reported them. Raises WL001, WL002.';

create or replace function context_replay_turns(p_session text, p_policy jsonb default '{}')
  returns table (turn_id uuid, iteration integer, input_tokens integer, cached_tokens integer, extra_output_tokens integer, is_cut boolean)
  language plpgsql
  volatile
  rows 100
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  return query
    select r.turn_id, r.iteration, r.input_tokens, r.cached_tokens, r.extra_output_tokens, r.is_cut from _replay_requests(p_session, p_policy) r;
exception when data_exception then
  perform _raise_invalid('the policy cannot be used: ' || sqlerrm);
end
$$;

comment on function context_replay_turns(text, jsonb) is 'context_replay() for each request: its turn, input tokens, cached tokens, extra output tokens, and is_cut. Raises WL001, WL002.';

create or replace function _replay_requests(p_session text, p_policy jsonb)
  returns table (
    turn_id uuid, iteration integer, input_tokens integer, cached_tokens integer, extra_output_tokens integer, is_cut boolean,
    kept_parts integer, cached_parts integer, tokens integer[], depths integer[], new_texts text[], kinds text[], cut elisions)
  language plpgsql
  volatile
  rows 100
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
declare
  v_turns turns[] := _session_turns(p_session);
  v_focus foci;
  v_item work_items;
  v_engage jsonb;
  v_is_own boolean := not p_policy ?| array['keep_messages', 'clear_results_over'];
  v_sizes jsonb;
  v_prefix integer;
  v_turn turns;
  v_cuts elisions[];
  v_cut elisions;
  v_cut_id uuid;
  v_limit integer;
  v_needs_steps boolean;
  v_names text[];
  v_parts record;
  v_cleared integer := 0;
  v_before bigint[] := '{}';
  v_entries integer[] := '{}';
begin
  perform _replay_policy_check(p_policy);
  if cardinality(v_turns) = 0 then
    return;
  end if;
  select * into v_focus from foci where id = (v_turns[1]).focus_id;
  select * into v_item from work_items where id = v_focus.work_item_id;
  v_engage := _replay_engage(v_focus.faculty_hash, p_policy, v_is_own);
  v_limit := _compaction_limit(v_engage);
  v_needs_steps := (v_engage ->> 'truncate_closed_blocks')::boolean or v_limit < 1000000000;
  select s.prefix_tokens, s.per_char into v_prefix, v_sizes from _replay_sizes(v_turns, v_engage ->> 'model') s;
  for v_n in 1 .. cardinality(v_turns) loop
    v_turn := v_turns[v_n];
    if v_n > 1 then
      v_focus.iteration := v_turn.iteration - 1;
      v_names := _replay_names(v_names, v_turns[v_n - 1], v_turns[v_n :], p_policy -> 'keep');
      v_cuts := _elision_due(v_item, v_focus, v_engage, v_turns[v_n - 1], _boundary(v_turns[v_n - 1].id), v_cuts, v_names);
    end if;
    select * into v_parts from _replay_parts(v_turn, v_cuts, v_sizes, v_engage, v_cleared, v_prefix);
    if v_is_own and v_n > 1
      and (v_prefix + _sum(v_parts.tokens) > v_limit or v_focus.iteration % nullif((v_engage ->> 'compact_every')::integer, 0) = 0) then
      v_cut := _replay_compaction(v_item, v_focus, v_engage, v_turns[: v_n - 1], v_cuts, v_limit, v_prefix + _sum(v_parts.tokens), v_names);
      if v_cut.id is not null then
        v_cuts := _with_cut(v_cuts, v_cut);
        select * into v_parts from _replay_parts(v_turn, v_cuts, v_sizes, v_engage, v_cleared, v_prefix);
      end if;
    end if;
    v_cleared := v_parts.cleared;
    kept_parts := _common_beginning(v_before, v_parts.keys);
    turn_id := v_turn.id;
    iteration := v_turn.iteration;
    cut := case when (v_cuts[cardinality(v_cuts)]).id is distinct from v_cut_id then v_cuts[cardinality(v_cuts)] end;
    is_cut := kept_parts < cardinality(v_before) or cut.id is not null;
    v_cut_id := coalesce(cut.id, v_cut_id);
    -- The cache serves a prefix that ends where an earlier request had a breakpoint: after the system prompt, after the last stub, at the end. For
    -- policies other than ours, a breakpoint is assumed wherever it helps.
    v_entries := array(select e from unnest(v_entries) e where e <= kept_parts);
    cached_parts := case when v_is_own then coalesce((select max(e) from unnest(v_entries) e), 0) else kept_parts end;
    v_entries := v_entries || cardinality(v_parts.keys) || array(select i from generate_subscripts(v_parts.ends, 1) i where v_parts.ends[i]);
    select v_parts.tokens, v_parts.depths, v_parts.kinds into tokens, depths, kinds;
    new_texts := v_parts.texts[kept_parts + 1 :];
    input_tokens := v_prefix + _sum(tokens);
    cached_tokens := case when v_n = 1 then 0 else v_prefix + _sum(tokens[: cached_parts]) end;
    extra_output_tokens := case when v_needs_steps then _steps_tokens(v_item.id, v_turn.id, v_engage ->> 'model') else 0 end;
    v_before := coalesce(v_parts.keys, '{}'); -- a recorded run may begin with a response
    return next;
  end loop;
end
$$;

comment on function _replay_requests(text, jsonb) is
  'context_replay() for each request, with its parts: kept_parts, the number of first parts that are the same as in the previous request; cached_parts, those that the cache serves; tokens and depths (of the turns of responses and results) of all parts; new_texts, the parts after kept_parts; kinds, what each part is, as the columns of turn_sizes; cut, the elision (not stored) that the request is the first to use, null: none. Raises WL001, WL002.';

create or replace function _session_turns(p_session text)
  returns turns[]
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_session sessions;
begin
  select * into v_session from sessions where label = p_session;
  if not found then
    raise exception using errcode = 'WL001', message = format('there is no session "%s"', p_session);
  end if;
  return _shown_turns((select t from turns t where t.id = v_session.head_turn_id), null);
end
$$;

comment on function _session_turns(text) is 'All turns of a session except compactions, from its beginning. Raises WL001.';

create or replace function _replay_engage(p_faculty_hash text, p_policy jsonb, p_is_own boolean)
  returns jsonb
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select (config -> 'engage')
      || jsonb_strip_nulls(jsonb_build_object('keep_budget', p_policy #> '{keep,budget}'))
      || p_policy
      || case when p_is_own then '{}' else '{"truncate_closed_blocks": false, "context_window": 2000000000}' end::jsonb
    from faculties
   where content_hash = p_faculty_hash;
$$;

comment on function _replay_engage(text, jsonb, boolean) is 'A faculty''s [engage] under a policy. For a policy that is not ours (p_is_own false), elision and compaction are switched off.';

create or replace function _common_beginning(p_before bigint[], p_after bigint[])
  returns integer
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_count integer := 0;
begin
  while v_count < least(cardinality(p_before), cardinality(p_after)) and p_before[v_count + 1] = p_after[v_count + 1] loop
    v_count := v_count + 1;
  end loop;
  return v_count;
end
$$;

comment on function _common_beginning(bigint[], bigint[]) is 'How many elements at the beginning of two arrays are equal.';

create or replace function _steps_tokens(p_work_item_id uuid, p_turn_id uuid, p_model text)
  returns integer
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce(sum(_tokens(char_length(content) + 60, p_model)), 0)::integer
    from work_ledger
   where work_item_id = p_work_item_id and turn_id = p_turn_id and entry_type = 'step';
$$;

comment on function _steps_tokens(uuid, uuid, text) is 'Output tokens of the steps of a turn, a cost that only elision has.';

create or replace function _replay_policy_check(p_policy jsonb)
  returns void
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_keys constant text[] := array['elide_budget', 'truncate_closed_blocks', 'keep_budget', 'keep_auto',
                                  'compact_threshold', 'compact_keep_recent', 'compact_strategy', 'compact_every', 'context_window',
                                  'keep', 'keep_messages', 'clear_results_over', 'clear_keep'];
  v_key text;
begin
  for v_key in select key from jsonb_each(case jsonb_typeof(p_policy) when 'object' then p_policy else '{"": 0}' end) loop
    if v_key <> all (v_keys) then
      perform _raise_invalid(format('"%s" is not a key of a context policy', v_key), 'One of: ' || array_to_string(v_keys, ', ') || '.');
    end if;
  end loop;
  perform _faculty_check(jsonb_build_object('name', 'policy', 'engage', p_policy - array['keep', 'keep_messages', 'clear_results_over', 'clear_keep']));
  if p_policy ? 'keep' and (jsonb_typeof(p_policy -> 'keep') <> 'object' or jsonb_typeof(p_policy #> '{keep,ahead}') is distinct from 'number'
       or jsonb_typeof(p_policy #> '{keep,lines}') <> 'number') then
    perform _raise_invalid('keep must be an object with numbers, of calls ahead and of lines around: {"ahead": 20, "budget": 16000, "lines": 30}');
  end if;
end
$$;

comment on function _replay_policy_check(jsonb) is 'Raises WL002 if p_policy is not a policy of context_replay().';
