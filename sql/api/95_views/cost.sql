-- The cost of work: each model request with its cost and the reason why it missed the cache; sums of these; what cuts cost and saved.

create or replace function _cache_seconds(p_cache_write numeric, p_ttl text)
  returns integer
  language sql
  immutable
  parallel safe
  return case when p_ttl = '1h' or p_cache_write >= 2 then 3600 else 300 end;

comment on function _cache_seconds(numeric, text) is 'How long a provider keeps a prefix in its cache after the last request that used it: an hour if that was asked for (cache_ttl), or if writing to it costs twice the input price (models.cache_write), else five minutes.';

create or replace function _sent_at(p_turn turns)
  returns timestamptz
  language sql
  immutable
  parallel safe
  return coalesce(p_turn.completed_at - make_interval(secs => p_turn.duration_ms / 1000.0), p_turn.started_at);

comment on function _sent_at(turns) is 'When the request that was answered was sent; of an imported turn, when it started.';

create or replace function _cached_total(p_turn turns)
  returns integer
  language sql
  immutable
  parallel safe
  return coalesce(p_turn.cached_input_tokens, 0) + coalesce(p_turn.cache_write_tokens, 0);

comment on function _cached_total(turns) is 'Tokens of a turn''s request that were in the provider''s cache afterwards.';

create or replace function _cache_outcome(p_turn turns, p_before turns, out cache text, out seconds_since numeric)
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
  set plan_cache_mode = force_generic_plan
as $$
  select case
           when _input_total(p_turn) = 0 then null
           when p_before.id is null then 'first'
           when _cached_total(p_before) = 0 and coalesce(p_turn.cached_input_tokens, 0) = 0 then 'uncached'
           when p_turn.cached_input_tokens >= 0.9 * _cached_total(p_before) then 'hit'
           when g.seconds > _cache_seconds((select m.cache_write from models m where m.name = c.model), c.cache_ttl) then 'expired'
           when c.model <> d.model then 'model'
           when c.tools_hash is distinct from d.tools_hash then 'tools'
           when c.system_hash is distinct from d.system_hash then 'prompt'
           when p_turn.parent_turn_id <> p_before.id then 'compaction'
           when p_turn.elision_id is distinct from p_before.elision_id then 'cut'
           else 'other'
         end,
         g.seconds
    from (select round(extract(epoch from _sent_at(p_turn) - _sent_at(p_before)), 3)) g(seconds)
    left join turn_configs c on c.content_hash = p_turn.config_hash
    left join turn_configs d on d.content_hash = p_before.config_hash;
$$;

comment on function _cache_outcome(turns, turns) is 'Whether a turn''s request was served from the provider''s cache, or why not, and the seconds since the request before it (p_before; null: there was none). The words are those of v_cost_turns.';

create or replace view v_cost_turns with (security_invoker = true) as
  select t.id as turn_id, t.work_item_id, w.root_id, t.focus_id, coalesce(f.faculty, w.faculty) as faculty, t.iteration,
         case t.turn_type when 'compaction' then 'summary' else 'turn' end as purpose, n.model, t.provider, t.completed_at,
         t.input_tokens, t.cached_input_tokens, t.cache_write_tokens, t.output_tokens,
         t.input_tokens * m.input_price / 1000000 as input_cost, coalesce(t.cached_input_tokens, 0) * m.cache_read_price / 1000000 as cache_read_cost,
         coalesce(t.cache_write_tokens, 0) * h.write_price / 1000000 as cache_write_cost, t.output_tokens * m.output_price / 1000000 as output_cost,
         o.cost, s.step_tokens,
         case when s.is_alone then o.cost else coalesce(s.step_tokens, 0) * m.output_price / 1000000 end as step_cost,
         k.cache, k.seconds_since, x.missed_tokens,
         x.missed_tokens * ((case when t.cache_write_tokens > 0 then h.write_price else m.input_price end) - m.cache_read_price) / 1000000 as missed_cost,
         _project_now(w.project) as project, coalesce(w.project, '') as stored_project,
         y.project as faculty_project
    from turns t
    join work_items w on w.id = t.work_item_id
    left join foci f on f.id = t.focus_id
    left join faculties y on y.content_hash = f.faculty_hash
    left join turn_configs c on c.content_hash = t.config_hash
    cross join lateral (select coalesce(c.model, t.model)) n(model)
    left join models m on m.name = n.model
    cross join lateral (select case c.cache_ttl when '1h' then m.input_price * m.cache_write_1h else m.cache_write_price end) h(write_price)
    cross join lateral (
      select (coalesce(t.input_tokens, 0) * m.input_price + coalesce(t.output_tokens, 0) * m.output_price
              + coalesce(t.cached_input_tokens, 0) * m.cache_read_price + coalesce(t.cache_write_tokens, 0) * h.write_price) / 1000000) o(cost)
    cross join lateral (
      select sum(_tokens(char_length(l.content) + 60, n.model))::integer, count(*) > 0 and _boundary(t.id) = 'after'
        from work_ledger l where l.turn_id = t.id and l.entry_type = 'step' and l.work_item_id = t.work_item_id and not l.is_auto) s(step_tokens, is_alone)
    -- The previous request in the same conversation: across attempts and items only if the conversation was continued there.
    left join lateral _asking_turn(t.parent_turn_id) b on t.turn_type = 'normal'
    cross join lateral _cache_outcome(t, b) k
    cross join lateral (
      select case when k.cache not in ('hit', 'first', 'uncached')
                  then greatest(least(_cached_total(b), _input_total(t)) - coalesce(t.cached_input_tokens, 0), 0) else 0 end) x(missed_tokens)
   where t.total_tokens > 0;
comment on view v_cost_turns is
  'Each answered request to a model: its tokens (input_tokens: neither read from the cache nor written to it), its cost at today''s prices in models, null if the model has none (model_price_save() sets them), and how the provider''s cache was used. purpose: turn, or summary (of a compaction). step_tokens: estimated output tokens of the steps that it recorded. step_cost: the price of those tokens, or of the whole request if it did nothing but record. cache: hit (at least nine tenths of what the previous request left in the cache was read), first (no previous request in its conversation), uncached (the previous request left nothing in the cache: it was too short, or its provider does not report it), or why the cache was missed: expired (more time since the previous request, seconds_since, than the provider''s cache lives: 5 minutes, or an hour with cache_ttl = 1h or if models.cache_write is 2 or more; whatever else changed, the cache would have been missed), model, tools, prompt (changed since), compaction, cut (this request leaves out what the previous one showed), other (none of these; the provider did not have it). Null: the provider counted no input. missed_tokens: how many were not read although the previous request had left them. missed_cost: how much more that cost.';
comment on column v_cost_turns.model is 'The model that was asked.';
comment on column v_cost_turns.purpose is 'turn, or summary (of a compaction).';
comment on column v_cost_turns.input_cost is 'Cost of input tokens outside the cache, in the currency of the prices; null without prices, like all costs here.';
comment on column v_cost_turns.cache_read_cost is 'Cost of tokens read from the provider''s cache.';
comment on column v_cost_turns.cache_write_cost is 'Cost of tokens written to the provider''s cache.';
comment on column v_cost_turns.output_cost is 'Cost of output tokens.';
comment on column v_cost_turns.cost is 'The sum of the four.';
comment on column v_cost_turns.step_tokens is 'Estimated output tokens of the steps that it recorded.';
comment on column v_cost_turns.step_cost is 'The price of those tokens, or of the whole request if it did nothing but record.';
comment on column v_cost_turns.cache is 'hit, first, uncached, or why the cache was missed: expired, model, tools, prompt, compaction, cut, other. The view''s comment explains each.';
comment on column v_cost_turns.seconds_since is 'Seconds since the previous request in its conversation.';
comment on column v_cost_turns.missed_tokens is 'Tokens that were not read although the previous request had left them in the cache.';
comment on column v_cost_turns.missed_cost is 'How much more that cost.';
comment on column v_cost_turns.project is 'The project of its work, by its current name; null: none.';
comment on column v_cost_turns.faculty_project is 'The project that the faculty belongs to, by its current name; null: it is the ledger''s.';
comment on column v_cost_turns.stored_project is 'The project under the name it was submitted with, see project_names(); empty: none.';

create or replace function cost_by(p_by text, p_work_item_id uuid default null, p_project text default null)
  returns table (
    key text, says text, requests bigint, input_tokens bigint, cached_input_tokens bigint, cache_write_tokens bigint, output_tokens bigint,
    cost numeric, summary_cost numeric, step_cost numeric, missed_tokens bigint, missed_cost numeric, unpriced_requests bigint)
  language plpgsql
  stable
  rows 20
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_names text[] := _project_and_none(p_project);
  -- The items that are asked for, and the child that each belongs to: as lists, since by a query the view finds turns in no index.
  v_ids uuid[];
  v_children uuid[];
begin
  if p_by is null or p_by <> all (array['total', 'item', 'child', 'tree', 'project', 'faculty', 'model', 'day', 'cache']) then
    perform _raise_invalid(format('cost cannot be shown by %s', coalesce(p_by, 'null')),
      'One of: total, item, child, tree, project, faculty, model, day, cache.');
  elsif p_by = 'child' and p_work_item_id is null then
    perform _raise_invalid('cost by child needs the work item whose children to show');
  elsif p_work_item_id is not null and not exists (select from work_items where id = p_work_item_id) then
    perform _raise_not_found('work item', p_work_item_id);
  end if;
  select array_agg(b.id), array_agg(b.child_id) into v_ids, v_children
    from _chain_of(p_work_item_id) c
    cross join lateral (
      select c, null::uuid
      union all
      select i, w.id from work_items w cross join lateral _items_below(w.id) i where w.parent_id = c) b(id, child_id);
  return query
    with request as (
      select case p_by
               when 'total' then ''
               when 'item' then t.work_item_id::text
               when 'child' then coalesce(b.child_id, p_work_item_id)::text
               when 'tree' then t.root_id::text
               when 'project' then coalesce(t.project, 'none')
               when 'faculty' then coalesce(nullif(concat_ws('@', t.faculty, t.faculty_project), ''), 'none') -- as _faculty_ref()
               when 'model' then coalesce(t.model, 'unknown')
               when 'day' then to_char(t.completed_at at time zone 'UTC', 'YYYY-MM-DD')
               else coalesce(t.cache, 'unknown')
             end as key, t.*
        from v_cost_turns t
        left join unnest(v_ids, v_children) as b(id, child_id) on b.id = t.work_item_id
       where (p_work_item_id is null or t.work_item_id = any (v_ids))
         and (p_project is null or t.stored_project = any (v_names))
    )
    select case when p_by = 'faculty' and count(*) over (partition by split_part(r.key, '@', 1)) = 1 then split_part(r.key, '@', 1) else r.key end,
           case when p_by in ('item', 'child', 'tree') then (select _one_line(w.description, 200) from work_items w where w.id = r.key::uuid)
                when p_by = 'faculty' then nullif(substr(r.key, strpos(r.key || '@', '@') + 1), '') end,
           count(*), coalesce(sum(r.input_tokens), 0), coalesce(sum(r.cached_input_tokens), 0), coalesce(sum(r.cache_write_tokens), 0),
           coalesce(sum(r.output_tokens), 0), sum(r.cost), sum(r.cost) filter (where r.purpose = 'summary'), sum(r.step_cost),
           coalesce(sum(r.missed_tokens), 0), sum(r.missed_cost), count(*) filter (where r.cost is null)
      from request r
     group by r.key
     order by case when p_by = 'day' then r.key end, sum(r.cost) desc nulls last, count(*) desc, r.key;
end
$$;

comment on function cost_by(text, uuid, text) is
  'What work cost, in sums over v_cost_turns: select * from cost_by(''day''). p_by: total, item, child (the direct children of p_work_item_id, each with everything below it, and the item itself), tree (root items with everything below), project, faculty, model, day (in UTC) or cache (see v_cost_turns). p_work_item_id: only this item, those of its conversation (see work_chain()) and everything below them. p_project: only work of this project, and of none. key: the id, name, day or word; name@project for faculties that have the same name in two projects, or in one and in the ledger. says: the description of an item; the project that a faculty belongs to (null: the ledger). Costs are in the currency of model_price_save() and cover only requests whose model has prices. unpriced_requests counts the others; a cost is null if all requests are unpriced. cost includes summary_cost (of compactions), step_cost (recording steps) and missed_cost (the extra cost of missing the cache). Most expensive first; days in order. Raises WL001, WL002.';

create or replace function cost_cuts(p_work_item_id uuid)
  returns table (
    attempt integer, iteration integer, cut text, blocks text, expected_left integer, expected_rewritten integer, expected_after integer,
    left_tokens bigint, rewritten_tokens bigint, paid_after bigint, requests integer, saved_tokens numeric, summary_cost numeric, saved_cost numeric)
  language plpgsql
  stable
  rows 20
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if not exists (select from work_items where id = p_work_item_id) then
    perform _raise_not_found('work item', p_work_item_id);
  end if;
  return query
    select c.attempt, c.iteration, c.cut, c.blocks, greatest(c.tokens_elided - c.stub_tokens - e.kept_tokens, 0), c.tokens_kept + c.stub_tokens + e.kept_tokens,
           c.breaks_even_after, a.left_tokens, a.rewritten, s.paid_after, n.requests, s.saved, round(y.cost, 6),
           round(s.saved * m.input_price / 1000000 - coalesce(y.cost, 0), 6)
      from context_cost(p_work_item_id) c
      join foci f on f.work_item_id = p_work_item_id and f.attempt = c.attempt
      join elisions e on e.focus_id = f.id and e.iteration = c.iteration
      join turns t on t.focus_id = f.id and t.iteration = c.iteration and t.status = 'completed' and t.provider is distinct from 'replay'
      join turn_configs g on g.content_hash = t.config_hash
      left join models m on m.name = g.model
      left join compactions k on k.work_item_id = p_work_item_id and k.elision_id = e.id
      left join v_cost_turns y on y.turn_id = k.turn_id
      cross join lateral _asking_turn(t.parent_turn_id) b
      -- What this request would have had in addition to the previous one: the response, its results, what was said.
      cross join lateral (
        select coalesce(b.output_tokens, 0) + _tokens(_results_chars(b.id) + char_length(_query_blocks(t.id)), g.model)) w(new_tokens)
      cross join lateral (
        select case when _input_total(b) > 0 and _input_total(t) > 0 then greatest(_input_total(b) + w.new_tokens - _input_total(t), 0) end::bigint,
               case when _input_total(t) > 0 then greatest(_input_total(t) - coalesce(t.cached_input_tokens, 0) - w.new_tokens, 0) end::bigint
        ) a(left_tokens, rewritten)
      cross join lateral (
        select count(*)::integer from turns r
         where r.focus_id = f.id and r.turn_type = 'normal' and r.status = 'completed' and r.iteration >= c.iteration
           and r.iteration < coalesce((select min(l.iteration) from elisions l where l.focus_id = f.id and l.ordinal = 0 and l.iteration > c.iteration),
                                      r.iteration + 1)) n(requests)
      cross join lateral _relative_prices(g.model, g.cache_ttl) p
      cross join lateral (
        select ceil(a.rewritten * greatest(p.cache_write - p.cache_read, 0) / nullif(a.left_tokens * p.cache_read, 0))::bigint,
               round(n.requests * a.left_tokens * p.cache_read - a.rewritten * greatest(p.cache_write - p.cache_read, 0), 1)) s(paid_after, saved)
     where (k.compaction_type is null) = (c.cut = 'elision')
     order by c.attempt, c.iteration;
end
$$;

comment on function cost_cuts(uuid) is
  'Compares the forecast for each cut of a work item''s context with the result. expected_left: tokens that were to leave each request, net of their stubs and of what is kept. expected_rewritten: tokens that were to be written to the cache again. expected_after: the number of requests after which the cut was to pay for itself. left_tokens, rewritten_tokens, paid_after: the same from what the provider counted for the first request with the cut, taking the new content of that request from the estimate; null: it counted nothing, or nothing left. requests: those that have benefited so far, up to the next compaction. saved_tokens: the balance so far in input tokens at the model''s relative prices; negative: the cut has not paid for itself yet. saved_cost: the balance in money, minus summary_cost; null if the model has no prices. Cuts whose first request is not answered yet, and those of replayed runs, are left out. Raises WL001.';
