-- Compares two branches of a conversation: where they diverge, and what each has done since.

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
  v_heads uuid[] := _branch_heads(p_a, p_b);
  v_common turns := _common_turn(v_heads[1], v_heads[2]);
begin
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
  'Compares two sessions, one row each (branch a and b): select * from session_compare(''…'', ''…''). common_turn_id, common_depth: the newest turn that both have; null: they have none. All other columns cover what each has done since then: turns (compactions included), model_calls, tokens, cost (at today''s prices; null: none is known), entry_count and entries (the newest 50 of its ledger, oldest first: [{seq, entry_type, content, created_at}]), file_count and files (that its calls touched, at most 100, by path: [{path, actions, calls}]), calls and failed_calls (of tools), started_at and ended_at (of its first and last turn). status: the state of its work item or, without one, of the session. The cost grows with the branches, not with the turns above them. Raises WL001.';

create or replace function session_compare_turns(p_a text, p_b text, p_after integer default 0, p_limit integer default 200)
  returns table (
    n integer, is_same boolean, a_turn_id uuid, a_says text, a_calls jsonb, b_turn_id uuid, b_says text, b_calls jsonb)
  language plpgsql
  stable
  rows 200
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
declare
  v_heads uuid[] := _branch_heads(p_a, p_b);
  v_common uuid := (_common_turn(v_heads[1], v_heads[2])).id;
begin
  perform _check_page(p_limit, 500);
  if p_after is null or p_after < 0 then
    perform _raise_invalid('turns are counted from 0', 'Pass the n of the last row as p_after.');
  end if;
  return query
    with a as (select * from _branch_said(_branch_turns(v_heads[1], v_common), p_after, p_limit)),
         b as (select * from _branch_said(_branch_turns(v_heads[2], v_common), p_after, p_limit))
    select n, coalesce(a.hash = b.hash, false), a.turn_id, a.says, a.calls, b.turn_id, b.says, b.calls from a full join b using (n) order by n;
end
$$;

comment on function session_compare_turns(text, text, integer, integer) is
  'What two sessions did since they diverged, turn by turn: row n has the n-th model call of each since then, p_limit rows (at most 500) after row p_after. is_same: both said the same words and made the same calls with the same results. a_says and b_says: the first 500 characters of what each said; null: nothing, or it has no such turn. a_calls and b_calls: [{tool, input (its first 200 characters), is_error}]. Compactions and unanswered requests are left out. Raises WL001 (a session), WL002 (p_after, p_limit).';

create or replace function _branch_said(p_turns uuid[], p_after integer, p_limit integer)
  returns table (n integer, turn_id uuid, says text, calls jsonb, hash text)
  language sql
  stable
  rows 200
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select t.n::integer, t.id, left(s.said, 500), k.calls, md5(concat_ws(E'\x1f', s.said, k.whole))
    from (select row_number() over (order by t.depth) as n, t.id
            from unnest(p_turns) i join turns t on t.id = i
           where t.turn_type = 'normal' and t.status = 'completed') t
   cross join lateral (
     select string_agg(_said_in(m.content), E'\n\n' order by m.sequence) as said from messages m where m.turn_id = t.id and m.role = 'assistant') s
   cross join lateral (
     select coalesce(jsonb_agg(jsonb_build_object('tool', k.tool_name, 'input', left(_call_input(k)::text, 200), 'is_error', coalesce(k.is_error, false))
                               order by k.ordinal), '[]') as calls,
            string_agg(concat_ws(E'\x1f', k.tool_name, _call_input(k)::text, _result_text(k.result)), E'\x1f' order by k.ordinal) as whole
       from tool_calls k
      where k.turn_id = t.id and k.parent_call_id is null) k
   where t.n > p_after and t.n <= p_after + p_limit::bigint;
$$;

comment on function _branch_said(uuid[], integer, integer) is 'What these turns said and did, in their order: p_limit of them after the p_after-th. hash: the same where words, calls and results are.';

create or replace function _branch_heads(p_a text, p_b text)
  returns uuid[]
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_label text;
  v_heads uuid[];
begin
  foreach v_label in array array[p_a, p_b] loop
    if not exists (select from sessions s where s.label = v_label) then
      raise exception using errcode = 'WL001', message = format('there is no session "%s"', _one_line(v_label, 200));
    end if;
    v_heads := v_heads || (select s.head_turn_id from sessions s where s.label = v_label);
  end loop;
  return v_heads;
end
$$;

comment on function _branch_heads(text, text) is 'The newest turns of two sessions; null: it has none. Raises WL001.';

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
