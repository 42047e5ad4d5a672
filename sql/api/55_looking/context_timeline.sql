-- The contents of each request of a conversation, by part, from the sums stored with its turns; and what it would have contained under another policy,
-- by replay.

create or replace function context_timeline(p_session text, p_policy jsonb default null, p_after uuid default null, p_limit integer default 500)
  returns table (
    turn_id uuid, n integer, attempt integer, iteration integer, block integer, model text, status text, started_at timestamptz,
    system integer, tools integer, task integer, digest integer, stubs integer, kept integer, closed integer, words integer,
    results integer, people integer, engine integer, sent integer, said integer, cut integer,
    cached_tokens integer, written_tokens integer, new_tokens integer, output_tokens integer, marks jsonb)
  language plpgsql
  volatile
  rows 500
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
declare
  v_head_id uuid;
  v_after integer := 0;
begin
  perform _check_page(p_limit, 10000);
  select s.head_turn_id into v_head_id from sessions s where s.label = p_session;
  if not found then
    raise exception using errcode = 'WL001', message = format('there is no session "%s"', _one_line(p_session, 200));
  end if;
  if p_after is not null then
    v_after := (select s.call_number from turn_sizes s where s.turn_id = p_after);
    if v_after is null or (_turn_of_call(v_head_id, v_after)).id is distinct from p_after then
      perform _raise_not_found('turn of this session', p_after);
    end if;
  end if;
  if p_policy is null then
    return query select l.* from _timeline(v_head_id, v_after, p_limit) l order by l.n;
    return;
  end if;
  if (select s.call_number from turn_sizes s where s.turn_id = v_head_id) > 1000 then
    perform _raise_invalid('a session of more than 1,000 model calls is not replayed', 'Without p_policy its own requests are shown.');
  end if;
  return query select l.* from _timeline_replayed(p_session, p_policy, v_head_id, v_after, p_limit) l order by l.n;
end
$$;

comment on function context_timeline(text, jsonb, uuid, integer) is
  'What the requests of a session contained, one row per model call, oldest first: select * from context_timeline(''…''), then context_timeline(''…'', p_after => the last row''s turn_id). p_limit: 1 to 10,000 rows. n: the number of the call in its conversation, from 1. Tokens of the request by part, estimated from its characters: system and tools (for a recorded run, whose configuration is not known, system is the provider''s count for both, and tools is null), task, digest (news of other work), stubs (of closed blocks, or what a compaction put in place of old turns), kept (verbatim after the stubs), closed (closed blocks that are still whole), words (of the model, in the open block), results (in the open block), people (what they said), engine (everything else that it was told). sent: their sum. said: the request if nothing had ever been left out. cut: how much of that was left out. As counted by the provider, null if it reported none: cached_tokens (read from its cache), written_tokens (to it), new_tokens (neither), output_tokens. marks: the cut that this request is the first to use: [{kind (elision, or the type of compaction), trigger, elision_id, turn_id (the compaction''s), blocks, tokens_elided, stub_tokens, kept_tokens, tokens_kept, breaks_even_after}]. The cost of a page depends on its rows, not on the length of the conversation. p_policy: as in context_replay(). Returns the same rows as they would have been, replayed from the beginning for every page (0.1 to 7 s for 160 calls), so only for sessions of at most 1,000 calls; cached and written tokens are those that a cache would have served. Its marks have no ids and no figures; their kind is elision, compaction, or cut: something sent before was changed. Turns that other programs stored without a request are left out. Raises WL001, WL002.';

create or replace function session_turn_at(p_session text, p_call integer)
  returns uuid
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select (_turn_of_call(s.head_turn_id, p_call)).id from sessions s where s.label = p_session;
$$;

comment on function session_turn_at(text, integer) is
  'The turn of a session''s model call number p_call (n of context_timeline(), from 1); null: it has no such call. Finding it takes as many steps as the session''s depth has binary digits. context_timeline(''…'', p_after => session_turn_at(''…'', 99)) begins with call 100.';

create or replace function _turn_of_call(p_head_id uuid, p_number integer)
  returns turns
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_id uuid := p_head_id;
  v_place record;
begin
  loop
    select t.parent_turn_id, t.turn_type, s.call_number, s.leap_turn_id, l.call_number as leap_number into v_place
      from turn_sizes s join turns t on t.id = s.turn_id join turn_sizes l on l.turn_id = s.leap_turn_id where s.turn_id = v_id;
    exit when not found or v_place.call_number < p_number;
    if v_place.call_number = p_number and v_place.turn_type = 'normal' then
      return (select t from turns t where t.id = v_id);
    end if;
    v_id := case when v_place.leap_number > p_number and v_place.leap_turn_id <> v_id then v_place.leap_turn_id else v_place.parent_turn_id end;
  end loop;
  return null;
end
$$;

comment on function _turn_of_call(uuid, integer) is 'The turn of a model call of the conversation that ends with p_head_id, by its number; null: it has fewer.';

create or replace function _timeline(p_head_id uuid, p_after integer, p_limit integer)
  returns table (
    turn_id uuid, n integer, attempt integer, iteration integer, block integer, model text, status text, started_at timestamptz,
    system integer, tools integer, task integer, digest integer, stubs integer, kept integer, closed integer, words integer,
    results integer, people integer, engine integer, sent integer, said integer, cut integer,
    cached_tokens integer, written_tokens integer, new_tokens integer, output_tokens integer, marks jsonb)
  language sql
  stable
  rows 500
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with recursive chain(turn, size) as (
    select t, s
      from (select coalesce((_turn_of_call(p_head_id, p_after + p_limit)).id, p_head_id) as id) e
      join turns t on t.id = e.id
      join turn_sizes s on s.turn_id = t.id
    union all
    select t, s
      from chain c
      join turns t on t.id = (c.turn).parent_turn_id
      join turn_sizes s on s.turn_id = t.id
     where s.call_number > p_after
  ),
  config as materialized (
    select h.config_hash, c.config ->> 'model' as model, _tokens(1000000, c.config ->> 'model') / 1000000.0 as ratio,
           char_length((c.config -> 'system')::text) as system, char_length((c.config -> 'tools')::text) as tools
      from (select distinct (turn).config_hash as config_hash from chain) h
      join turn_configs c on c.content_hash = h.config_hash
  ),
  first_call as materialized (
    -- In a recorded run, only the provider knew the size of the system prompt and tools.
    select case when t.external_id is not null or t.provider = 'replay' then nullif(_input_total(t), 0) - ceil((s.task + s.digest) * c.ratio) end as prefix
      from _turn_of_call(p_head_id, 1) t
      join turn_sizes s on s.turn_id = t.id
      cross join lateral (select _tokens(1000000, f.config ->> 'model') / 1000000.0 as ratio from turn_configs f where f.content_hash = t.config_hash) c
  ),
  sized as (
    select h.turn as t, z.call_number, z.said as said_chars, c.model, c.ratio,
           coalesce(p.prefix, ceil(c.system * c.ratio), 0)::integer as system,
           case when p.prefix is null then coalesce(ceil(c.tools * c.ratio), 0)::integer end as tools,
           ceil(z.task * c.ratio)::integer as task, ceil(z.digest * c.ratio)::integer as digest, ceil(z.stubs * c.ratio)::integer as stubs,
           ceil(z.kept * c.ratio)::integer as kept, ceil(z.closed * c.ratio)::integer as closed, ceil(z.words * c.ratio)::integer as words,
           ceil(z.results * c.ratio)::integer as results, ceil(z.people * c.ratio)::integer as people, ceil(z.engine * c.ratio)::integer as engine,
           z.task + z.digest + z.closed + z.words + z.results + z.people + z.engine as whole_chars
      from (select turn, (size).* from chain where (turn).turn_type = 'normal' and (size).call_number > p_after) z
      cross join lateral (select z.turn) h
      join config c on c.config_hash = (z.turn).config_hash
      left join (select max(f.prefix) as prefix from first_call f where f.prefix > 0) p on (z.turn).external_id is not null or (z.turn).provider = 'replay'
  )
  select (s.t).id, s.call_number, f.attempt, (s.t).iteration, (s.t).block, coalesce((s.t).model, s.model), (s.t).status, (s.t).started_at,
         s.system, s.tools, s.task, s.digest, s.stubs, s.kept, s.closed, s.words, s.results, s.people, s.engine,
         s.system + coalesce(s.tools, 0) + s.task + s.digest + s.stubs + s.kept + s.closed + s.words + s.results + s.people + s.engine,
         s.system + coalesce(s.tools, 0) + ceil(s.said_chars * s.ratio)::integer, greatest(ceil((s.said_chars - s.whole_chars) * s.ratio), 0)::integer,
         (s.t).cached_input_tokens, (s.t).cache_write_tokens, (s.t).input_tokens, (s.t).output_tokens,
         case when p.is_same then '[]' else _timeline_marks(s.t, s.model) end
    from sized s
    -- For most turns, the previous turn already shows that there is no mark.
    left join lateral (
      select true as is_same from turns p
       where p.id = (s.t).parent_turn_id and p.turn_type <> 'compaction' and p.elision_id is not distinct from (s.t).elision_id) p on true
    left join foci f on f.id = (s.t).focus_id;
$$;

comment on function _timeline(uuid, integer, integer) is 'Rows of context_timeline(): the p_limit calls after call p_after of the conversation that ends with p_head_id.';

create or replace function _timeline_marks(p_turn turns, p_model text)
  returns jsonb
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce(jsonb_agg(
           jsonb_build_object('kind', coalesce(k.compaction_type, 'elision'), 'trigger', k.trigger, 'elision_id', e.id, 'turn_id', k.turn_id)
           || _cut_figures(e, p_model)), '[]')
    from turns p
    join elisions e on e.id = p_turn.elision_id
    left join compactions k on p.turn_type = 'compaction' and k.turn_id = p.id
   where p.id = p_turn.parent_turn_id and (p.turn_type = 'compaction' or p.elision_id is distinct from p_turn.elision_id);
$$;

comment on function _timeline_marks(turns, text) is 'The cut that a turn''s request is the first to use, as in context_timeline(); []: none.';

create or replace function _cut_figures(p_cut elisions, p_model text)
  returns jsonb
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select jsonb_build_object(
    'blocks', case when p_cut.first_block >= p_cut.last_block then p_cut.first_block::text else format('%s-%s', p_cut.first_block, p_cut.last_block) end,
    'tokens_elided', p_cut.tokens_elided, 'stub_tokens', p_cut.stub_tokens, 'kept_tokens', p_cut.kept_tokens, 'tokens_kept', p_cut.tokens_kept,
    'breaks_even_after', _breaks_even_after(p_cut, p_model));
$$;

comment on function _cut_figures(elisions, text) is 'What a mark of context_timeline() says of its cut, stored or replayed: the blocks that it leaves out, tokens, after how many requests it pays.';

create or replace function _timeline_replayed(p_session text, p_policy jsonb, p_head_id uuid, p_after integer, p_limit integer)
  returns table (
    turn_id uuid, n integer, attempt integer, iteration integer, block integer, model text, status text, started_at timestamptz,
    system integer, tools integer, task integer, digest integer, stubs integer, kept integer, closed integer, words integer,
    results integer, people integer, engine integer, sent integer, said integer, cut integer,
    cached_tokens integer, written_tokens integer, new_tokens integer, output_tokens integer, marks jsonb)
  language plpgsql
  volatile
  rows 500
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  return query
    select o.turn_id, o.n, o.attempt, o.iteration, o.block, o.model, o.status, o.started_at,
           r.input_tokens - _sum(r.tokens), null::integer,
           coalesce(k.task, 0), coalesce(k.digest, 0), coalesce(k.stubs, 0), coalesce(k.kept, 0), coalesce(k.closed, 0),
           coalesce(k.words, 0), coalesce(k.results, 0), coalesce(k.people, 0), coalesce(k.engine, 0), r.input_tokens, o.said,
           greatest(o.said - r.input_tokens + coalesce(k.stubs, 0) + coalesce(k.kept, 0), 0),
           r.cached_tokens, r.input_tokens - r.cached_tokens, 0, o.output_tokens,
           case when not r.is_cut or o.n = 1 then '[]'
                when (r.cut).id is null then '[{"kind": "cut"}]'
                else jsonb_build_array(
                  jsonb_build_object('kind', case (r.cut).ordinal when 0 then 'compaction' else 'elision' end) || _cut_figures(r.cut, o.model)) end
      from _replay_requests(p_session, p_policy) r
      join _timeline(p_head_id, p_after, p_limit) o on o.turn_id = r.turn_id
      cross join lateral (
        select sum(u.tokens) filter (where u.kind = 'task')::integer as task, sum(u.tokens) filter (where u.kind = 'digest')::integer as digest,
               sum(u.tokens) filter (where u.kind = 'stubs')::integer as stubs, sum(u.tokens) filter (where u.kind = 'kept')::integer as kept,
               sum(u.tokens) filter (where u.kind = 'closed')::integer as closed, sum(u.tokens) filter (where u.kind = 'words')::integer as words,
               sum(u.tokens) filter (where u.kind = 'results')::integer as results, sum(u.tokens) filter (where u.kind = 'people')::integer as people,
               sum(u.tokens) filter (where u.kind = 'engine')::integer as engine
          from unnest(r.tokens, r.kinds) as u(tokens, kind)) k;
exception when data_exception then
  perform _raise_invalid('the policy cannot be used: ' || sqlerrm);
end
$$;

comment on function _timeline_replayed(text, jsonb, uuid, integer, integer) is 'Rows of context_timeline() under another policy. Raises WL002.';
