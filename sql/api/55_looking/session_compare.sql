-- Two branches of a conversation side by side: where they part, and what each has done since.

create or replace function session_compare(p_a text, p_b text)
  returns table (
    branch text, session_label text, work_item_id uuid, description text, head_turn_id uuid, common_turn_id uuid, common_depth integer,
    turns integer, model_calls integer, tokens bigint, cost numeric, entry_count integer, entries jsonb, file_count integer, files jsonb,
    calls integer, failed_calls integer, status text, started_at timestamptz, ended_at timestamptz)
  language plpgsql
  stable
  rows 2
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
declare
  v_label text;
  v_heads uuid[];
  v_common turns;
begin
  foreach v_label in array array[p_a, p_b] loop
    if not exists (select from sessions s where s.label = v_label) then
      raise exception using errcode = 'WL001', message = format('there is no session "%s"', _one_line(v_label, 200));
    end if;
    v_heads := v_heads || (select s.head_turn_id from sessions s where s.label = v_label);
  end loop;
  v_common := _common_turn(v_heads[1], v_heads[2]);
  return query
    select case o.n when 1 then 'a' else 'b' end, o.label, w.id, _one_line(left(w.description, 1000), 300), o.head_id, v_common.id, v_common.depth,
           b.turns, b.model_calls, coalesce(h.chain_tokens, 0) - coalesce(v_common.chain_tokens, 0), b.cost,
           e.n, e.entries, x.n, x.files, b.calls, b.failed_calls, coalesce(w.state, s.status), b.started_at, b.ended_at
      from unnest(array[p_a, p_b], v_heads) with ordinality as o(label, head_id, n)
      join sessions s on s.label = o.label
      left join turns h on h.id = o.head_id
      left join lateral (select f.work_item_id from foci f where f.session_label = o.label order by f.created_at desc, f.id desc limit 1) f on true
      left join work_items w on w.id = coalesce(f.work_item_id, h.work_item_id)
      cross join lateral (select _branch_turns(o.head_id, v_common.id) as ids) i
      cross join lateral _branch_sums(i.ids) b
      cross join lateral _branch_entries(i.ids) e
      cross join lateral _branch_files(i.ids) x
     order by o.n;
end
$$;

comment on function session_compare(text, text) is
  'Two sessions side by side, a row each (branch a and b): select * from session_compare(''…'', ''…''). common_turn_id, common_depth: the newest turn that both have; null: they have none. All else is what each has done since: turns (compactions included), model_calls, tokens, cost (at today''s prices; null: none is known), entry_count and entries (the newest 50 of its ledger, oldest first: [{seq, entry_type, content, created_at}]), file_count and files (that its calls touched, at most 100, by path: [{path, actions, calls}]), calls and failed_calls (of tools), started_at and ended_at (of its first and last turn). status: the state of its work item or, without one, of the session. What it costs grows with the branches, not with what is above them. Raises WL001.';

create or replace function _branch_turns(p_head_id uuid, p_above_id uuid)
  returns uuid[]
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with recursive branch(id, parent_turn_id) as (
    select t.id, t.parent_turn_id from turns t where t.id = p_head_id and t.id is distinct from p_above_id
    union all
    select t.id, t.parent_turn_id from branch b join turns t on t.id = b.parent_turn_id where t.id is distinct from p_above_id
  )
  select coalesce(array_agg(b.id), '{}') from branch b;
$$;

comment on function _branch_turns(uuid, uuid) is 'The turns of a conversation down to p_head_id, below p_above_id (null: all).';

create or replace function _branch_sums(
    p_turns uuid[],
    out turns integer, out model_calls integer, out cost numeric, out calls integer, out failed_calls integer,
    out started_at timestamptz, out ended_at timestamptz)
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select count(*)::integer, count(*) filter (where t.call_count > 0 and t.completed_at is not null)::integer, sum(_turn_cost(t)),
         coalesce(sum(k.n), 0)::integer, coalesce(sum(k.failed), 0)::integer, min(t.started_at), max(t.completed_at)
    from unnest(p_turns) i
    join turns t on t.id = i
    cross join lateral (
      select count(*) as n, count(*) filter (where c.is_error) as failed from tool_calls c where c.turn_id = t.id) k;
$$;

comment on function _branch_sums(uuid[]) is 'What these turns were and used, added up.';

create or replace function _branch_entries(p_turns uuid[], out n integer, out entries jsonb)
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with item as (
    select t.work_item_id, min(t.started_at) as since, max(coalesce(t.completed_at, 'infinity')) as until
      from unnest(p_turns) i join turns t on t.id = i
     group by t.work_item_id
  ),
  entry as (
    select l.*
      from item
      join work_ledger l on l.work_item_id = item.work_item_id and l.created_at >= item.since
     where not l.is_inherited and l.turn_id = any (p_turns)
  )
  select (select count(*)::integer from entry),
         (select coalesce(jsonb_agg(jsonb_build_object('seq', e.seq, 'entry_type', e.entry_type, 'content', e.content, 'created_at', e.created_at)
                                    order by e.created_at, e.seq), '[]')
            from (select * from entry order by created_at desc, seq desc limit 50) e);
$$;

comment on function _branch_entries(uuid[]) is 'The ledger entries that these turns recorded: how many, and the newest 50.';

create or replace function _branch_files(p_turns uuid[], out n integer, out files jsonb)
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with file as (
    select x.target, array_agg(distinct x.action order by x.action) as actions, count(distinct k.id) as calls
      from unnest(p_turns) i
      join tool_calls k on k.turn_id = i
      join touches x on x.tool_call_id = k.id and x.kind = 'path'
     group by x.target
  )
  select (select count(*)::integer from file),
         (select coalesce(jsonb_agg(jsonb_build_object('path', f.target, 'actions', f.actions, 'calls', f.calls) order by f.target), '[]')
            from (select * from file order by target limit 100) f);
$$;

comment on function _branch_files(uuid[]) is 'The files that the calls of these turns touched: how many, and the first 100 by path.';
