-- The tree of turns, for drawing: straight runs are folded, and so is everything far from the current turn.

create or replace function turn_tree(p_work_item_id uuid, p_around uuid default null, p_limit integer default 200)
  returns table (
    node_id uuid, parent_node_id uuid, kind text, turns integer, last_turn_id uuid, lane integer, depth integer, last_depth integer,
    attempt integer, iteration integer, status text, marks text[], label text, steps integer, errors integer, tokens bigint,
    started_at timestamptz, completed_at timestamptz, work_item_id uuid)
  language plpgsql
  stable
  rows 100
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
declare
  v_around turns;
  v_nodes integer := p_limit / 2; -- a folded run may precede each turn that is shown
begin
  perform _check_page(p_limit, 1000);
  if not exists (select from work_items w where w.id = p_work_item_id) then
    perform _raise_not_found('work item', p_work_item_id);
  end if;
  select t.* into v_around from turns t where t.id = coalesce(p_around, _newest_turn(p_work_item_id));
  if p_around is not null and v_around.work_item_id is distinct from p_work_item_id then
    perform _raise_not_found('turn of this work item', p_around);
  end if;
  return query
    with turn as materialized (
      select * from _tree_turns(p_work_item_id, v_around)
    ),
    shown as (
      select t.*, coalesce(t.weight > 0 and row_number() over (order by t.weight desc, abs(t.depth - v_around.depth), t.id) <= v_nodes, false) as is_shown
        from turn t
    ),
    island as (
      select s.*, count(*) filter (where s.is_shown) over (partition by s.lane_id order by s.depth) as n from shown s
    ),
    member as (
      select i.*, first_value(i.id) over (partition by i.lane_id, i.n, i.is_shown order by i.depth) as node_id,
             dense_rank() over (order by i.is_main desc, i.lane_id) - 1 as lane
        from (select i.*, bool_or(i.is_on_main) over (partition by i.lane_id) as is_main from island i) i
    ),
    node as (
      select m.*, sum(m.turns) over n as all_turns, last_value(m.last_turn_id) over n as newest_id, last_value(m.last_depth) over n as lowest,
             last_value(m.attempt) over n as last_attempt, last_value(m.iteration) over n as last_iteration,
             last_value(m.status) over n as last_status, sum(m.steps) over n as all_steps, sum(m.errors) over n as all_errors,
             sum(m.tokens) over n as all_tokens, max(m.completed_at) over n as ended_at
        from member m
      window n as (partition by m.node_id order by m.depth rows between unbounded preceding and unbounded following)
    ),
    folded as (
      select n.*, lag(n.node_id) over (partition by n.lane_id order by n.depth) as above_id from node n where n.id = n.node_id
    )
    select f.node_id, coalesce(f.above_id, (select p.node_id from member p where p.id = f.parent_turn_id)),
           case when f.all_turns = 1 then 'turn' else 'run' end, f.all_turns::integer, f.newest_id, f.lane::integer, f.depth, f.lowest,
           f.last_attempt, f.last_iteration, f.last_status, case when f.is_shown then f.marks else '{}' end, case when f.is_shown then f.label end,
           f.all_steps::integer, f.all_errors::integer, f.all_tokens::bigint, f.started_at, f.ended_at, null::uuid
      from folded f
    union all
    select w.id, m.node_id, 'item', 0, null, m.lane::integer, m.depth + 1, m.depth + 1, null, null, w.state, array['fork'],
           _one_line(left(coalesce(i.content, w.description), 1000), 200), 0, 0, (_usage_of(array[w.id])).tokens, w.created_at, w.resolved_at, w.id
      from (select m.* from member m where 'fork' = any (m.marks) order by m.depth desc limit v_nodes) m
      join work_items w on w.fork_turn_id = m.id and w.id <> p_work_item_id
      left join lateral (select * from inbox i where i.work_item_id = w.id and i.kind = 'message' order by i.created_at limit 1) i on true
     order by 6, 7, 3 desc
     limit p_limit;
end
$$;

comment on function turn_tree(uuid, uuid, integer) is
  'The tree of a work item''s turns, for drawing, ordered by lane and depth: select * from turn_tree(''…''). Straight runs of turns are folded into one row; forks, steps, errors, attempts, compactions, rejected calls and children keep their own rows, those closest to p_around (a turn; null: the newest) first, as far as p_limit rows (2 to 1,000) allow. It reads the 250 turns above and below p_around; turns beyond them form one run, so the cost does not grow with the tree. kind: turn; run (turns: how many; node_id is the first, last_turn_id the last); item (another work item, work_item_id, that was forked from parent_node_id). lane: 0 is the path to the newest turn, others are branches and earlier attempts. marks: first (of an attempt), step, error, compaction, fork, rejected, children, head (the newest), leaf, around. label: the step, the error, the kind of compaction; for an item, what it was told to do. iteration, attempt, status: of the last turn. tokens: used by these turns. Abandoned turns are left out. Raises WL001, WL002.';

create or replace function _tree_turns(p_work_item_id uuid, p_around turns)
  returns table (
    id uuid, parent_turn_id uuid, last_turn_id uuid, turns integer, depth integer, last_depth integer, attempt integer, iteration integer,
    status text, lane_id uuid, is_on_main boolean, marks text[], label text, steps integer, errors integer, tokens bigint,
    started_at timestamptz, completed_at timestamptz, weight integer)
  language sql
  stable
  rows 1000
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with lane as materialized (
    select * from _tree_lanes(p_work_item_id, p_around.depth - 250, p_around.depth + 250)
  ),
  marked as (
    select l.*, t.focus_id, t.iteration, t.status, t.started_at, t.completed_at, t.total_tokens, t.turn_type,
           coalesce(s.n, 0) as steps, coalesce(e.n, 0) as errors,
           array_remove(array[
             case when t.parent_turn_id is null or t.fork_turn_id = t.parent_turn_id then 'first' end,
             case when s.n > 0 then 'step' end,
             case when e.n > 0 then 'error' end,
             case when t.turn_type = 'compaction' then 'compaction' end,
             case when l.children > 1 or exists (select from work_items w where w.fork_turn_id = t.id and w.id <> p_work_item_id) then 'fork' end,
             case when exists (
               select from tool_calls k join approvals a on a.tool_call_id = k.id
                where k.turn_id = t.id and a.decision in ('rejected', 'expired')) then 'rejected' end,
             case when exists (select from tool_calls k where k.turn_id = t.id and k.spawned_work_item_id is not null) then 'children' end,
             case when l.is_newest then 'head' end,
             case when l.children = 0 and t.depth < p_around.depth + 250 then 'leaf' end,
             case when t.id = p_around.id then 'around' end], null) as marks,
           coalesce(s.label, e.label) as label
      from lane l
      join turns t on t.id = l.id
      left join lateral (
        select count(*)::integer as n, (array_agg(_one_line(x.content, 200) order by x.seq desc))[1] as label
          from work_ledger x where x.turn_id = t.id and x.entry_type = 'step' and not x.is_inherited) s on true
      left join lateral (
        select count(*)::integer as n, (array_agg(_one_line(x.content, 200) order by x.seq desc))[1] as label
          from work_ledger x where x.turn_id = t.id and x.entry_type = 'error' and not x.is_inherited) e on true
  )
  select m.id, m.parent_turn_id, m.id, 1, m.depth, m.depth, f.attempt, m.iteration, m.status, m.lane_id, m.is_on_main, m.marks,
         coalesce(m.label, c.compaction_type), m.steps, m.errors, m.total_tokens::bigint, m.started_at, m.completed_at,
         coalesce((select max(case x.mark
             when 'around' then 9 when 'head' then 8 when 'first' then 7 when 'fork' then 6 when 'leaf' then 6
             when 'compaction' then 5 when 'step' then 2 else 3 end)
           from unnest(m.marks) as x(mark)), case when m.is_root then 6 else 0 end)
    from marked m
    left join foci f on f.id = m.focus_id
    left join compactions c on m.turn_type = 'compaction' and c.turn_id = m.id
  union all
  -- What is above these turns, and what is below.
  select u.id, null, u.id, u.depth + 1 - b.depth, b.depth, u.depth, null, u.iteration, u.status, l.lane_id, true, '{}', null,
         null, null, null, b.started_at, u.completed_at, 0
    from lane l
    join turns u on u.id = l.parent_turn_id and u.work_item_id = p_work_item_id
    cross join lateral (select t.depth, t.started_at from turns t where t.work_item_id = p_work_item_id order by t.depth limit 1) b
   where l.is_root and l.is_on_main
  union all
  select d.id, l.id, n.id, n.depth - l.depth, d.depth, n.depth, null, n.iteration, n.status, l.lane_id, true, '{}', null,
         null, null, n.chain_tokens - t.chain_tokens, d.started_at, n.completed_at, 0
    from lane l
    join turns t on t.id = l.id
    join turns n on n.id = _newest_turn(p_work_item_id) and n.depth > l.depth
    cross join lateral (
      select c.id, c.depth, c.started_at from turns c where c.parent_turn_id = l.id and c.status <> 'failed' order by c.id desc limit 1) d
   where l.is_on_main and l.depth = p_around.depth + 250;
$$;

comment on function _tree_turns(uuid, turns) is
  'The turns that turn_tree() folds: those of an item within 250 of the depth of p_around, with their marks and how much each matters (weight; 0: only as one of a run), and a row each for all above and below.';

create or replace function _tree_lanes(p_work_item_id uuid, p_from integer, p_to integer)
  returns table (
    id uuid, parent_turn_id uuid, depth integer, lane_id uuid, is_root boolean, is_on_main boolean, is_newest boolean, children bigint)
  language sql
  stable
  rows 1000
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with recursive near as materialized (
    select t.id, t.parent_turn_id, t.depth, t.depth = p_from or t.parent_turn_id is not distinct from t.fork_turn_id as is_root
      from turns t
      left join compactions c on t.turn_type = 'compaction' and c.turn_id = t.id
     where t.work_item_id = p_work_item_id and t.depth between p_from and p_to and t.status <> 'failed' and c.is_applied is not false
  ),
  main(id, parent_turn_id) as (
    (select n.id, n.parent_turn_id from near n order by n.id = (select _newest_turn(p_work_item_id)) desc, n.depth desc, n.id desc limit 1)
    union all
    select t.id, t.parent_turn_id from main m join turns t on t.id = m.parent_turn_id where t.work_item_id = p_work_item_id and t.depth >= p_from
  ),
  turning as materialized (
    -- Of several children, one continues straight on.
    select s.id
      from (select n.id, row_number() over (partition by n.parent_turn_id order by n.id in (select m.id from main m) desc, n.id desc) as nth
              from near n where not n.is_root) s
     where s.nth > 1
  ),
  walk as (
    select n.id, n.parent_turn_id, n.depth, n.is_root, n.id as lane_id from near n where n.is_root
    union all
    select t.id, t.parent_turn_id, t.depth, false, case when t.id in (select x.id from turning x) then t.id else w.lane_id end
      from walk w
      join turns t on t.parent_turn_id = w.id
     where t.work_item_id = p_work_item_id and t.depth <= p_to and t.status <> 'failed'
       and (t.turn_type = 'normal' or not exists (select from compactions c where c.turn_id = t.id and not c.is_applied))
  )
  select w.id, w.parent_turn_id, w.depth, w.lane_id, w.is_root, w.id in (select m.id from main m), w.id = (select _newest_turn(p_work_item_id)),
         (select count(*) from turns c where c.parent_turn_id = w.id and c.status <> 'failed' and c.work_item_id = p_work_item_id)
    from walk w;
$$;

comment on function _tree_lanes(uuid, integer, integer) is
  'The turns of an item between two depths, each with its lane (named by its first turn): a lane continues with the child that leads to the newest turn, else with the newest child; every other child begins its own.';
