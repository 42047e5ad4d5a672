-- The progress of a plan: the items of the newest one, with what the steps since then did to them.

create or replace function _plan_of(p_work_item_id uuid, p_until_seq integer default 2147483647)
  returns table (n integer, text text, state text, since_at timestamptz, seq integer)
  language plpgsql
  stable
  rows 10
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
declare
  v_plan work_ledger;
begin
  v_plan := _newest_plan(p_work_item_id, p_until_seq);
  if v_plan.seq is null then
    return query select i.n, i.text, i.state, l.created_at, null::integer
      from _plan_logged(p_work_item_id) l cross join lateral _plan_parts(l.content) i where p_until_seq = 2147483647;
    return;
  end if;
  return query
    with tick as materialized (
      select s.seq, s.created_at, x.done, x.doing
        from work_ledger s
       cross join lateral _step_ticks(s.content) x
       where s.work_item_id = p_work_item_id and s.seq > v_plan.seq and s.seq <= p_until_seq and s.entry_type = 'step'
         and not _is_retracted(p_work_item_id, s.seq, p_until_seq)
    ), newest as (
      -- Beginning an item ends the one that was being done.
      select t.seq, t.created_at from tick t where t.doing is not null order by t.seq desc limit 1
    )
    select i.n, i.text, a.state,
           case when a.state = i.state and t.seq is null then v_plan.created_at else coalesce(t.created_at, d.created_at) end,
           case when a.state = i.state and t.seq is null then v_plan.seq else coalesce(t.seq, d.seq) end
      from _plan_parts(v_plan.content) i
      left join lateral (select * from tick where i.n = any (tick.done) or i.n = tick.doing order by tick.seq desc limit 1) t on true
      left join newest d on true
     cross join lateral (
       select case
                when i.n = any (t.done) then 'done'
                when t.seq = d.seq then 'doing'
                when t.seq is not null or (i.state = 'doing' and d.seq is not null) then 'open'
                else i.state end) as a(state);
end
$$;

comment on function _plan_of(uuid, integer) is
  'The items of a work item''s newest plan up to an entry, with the state that it or a later step gave them, since when, and by which entry.';

create or replace function _plan_check(p_work_item_id uuid, p_seq integer, p_numbers integer[])
  returns void
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_count integer := (select count(*) from _plan_of(p_work_item_id, p_seq));
  v_unknown integer := (select n from unnest(p_numbers) n where n is not null and n not between 1 and v_count limit 1);
begin
  if v_unknown is not null then
    perform _raise_invalid(
      format('there is no item %s in the plan', v_unknown),
      case v_count when 0 then 'Record a plan with its items first.' else format('Its items are 1 to %s.', v_count) end);
  end if;
end
$$;

comment on function _plan_check(uuid, integer, integer[]) is 'Raises WL002 unless the plan before entry p_seq has items with these numbers.';

create or replace function _plan_logged(p_work_item_id uuid)
  returns table (content text, created_at timestamptz)
  language plpgsql
  stable
  rows 1
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
#variable_conflict use_column
declare
  v_item work_items;
begin
  select * into v_item from work_items where id = p_work_item_id and work_type in ('journal', 'import');
  if v_item.work_type = 'journal' then
    return query
      select (select string_agg(s.text, E'\n' order by s.n) from jsonb_array_elements_text(j.content -> 'planSteps') with ordinality as s(text, n)),
             j.created_at
        from journal_entries j
       where j.work_item_id = p_work_item_id and j.deleted_at is null and j.entry_type = 'thinking' and jsonb_typeof(j.content -> 'planSteps') = 'array'
       order by j.created_at desc, j.id desc limit 1;
  end if;
  if not found and _is_recorded(v_item) then
    return query
      select e.content, coalesce(v_item.resolved_at, v_item.started_at) from _recorded_entries(v_item) e where e.entry_type = 'plan' and e.content ~ '\S';
  end if;
end
$$;

comment on function _plan_logged(uuid) is 'The newest plan of a session whose ledger has none: from its journal, or the todo list of an imported one.';

create or replace function _newest_plan(p_work_item_id uuid, p_until_seq integer default 2147483647)
  returns work_ledger
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_plan work_ledger;
begin
  select l.* into v_plan
    from work_ledger l
   where l.work_item_id = p_work_item_id and l.entry_type = 'plan' and l.seq <= p_until_seq and l.content ~ '\S'
     and l.seq > (select w.ledger_epoch from work_items w where w.id = p_work_item_id)
     and not _is_retracted(p_work_item_id, l.seq, p_until_seq)
   order by l.seq desc
   limit 1;
  return v_plan;
end
$$;

comment on function _newest_plan(uuid, integer) is 'The newest plan up to an entry that was not retracted. Null: there is none.';

create or replace function _plan_text(p_plan work_ledger, p_until_seq integer default 2147483647)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select case when bool_or(i.seq > (p_plan).seq) then
           concat_ws(E'\n\n', string_agg(format('%s. %s %s', i.n, _plan_box(i.state), i.text), E'\n' order by i.n),
             case when (p_plan).content ~ '^1\. \[[ x/-]\] ' then substr((p_plan).content, nullif(strpos((p_plan).content, E'\n\n'), 0) + 2) end)
           else (p_plan).content end
    from _plan_of((p_plan).work_item_id, p_until_seq) i;
$$;

comment on function _plan_text(work_ledger, integer) is 'The newest plan as agents read it: in its own words until a step has changed an item, then its items with their states.';

create or replace function _plan_line(p_work_item_id uuid)
  returns text
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_plan work_ledger := _newest_plan(p_work_item_id);
begin
  if v_plan.content ~ '(?n)^\s*(?:\d+[.)]|[-*+•])?\s*\[[ xX/>~-]\]' then
    return (
      select format('%s of %s done', count(*) filter (where i.state = 'done'), count(*) filter (where i.state <> 'dropped'))
             || coalesce('; ' || (array_agg(case i.state when 'doing' then 'doing: ' else 'next: ' end || i.text order by i.state = 'doing' desc, i.n)
                  filter (where i.state in ('open', 'doing')))[1], '')
        from _plan_of(p_work_item_id) i);
  end if;
  return v_plan.content;
end
$$;

comment on function _plan_line(uuid) is
  'A work item''s plan for others: how far it is, "3 of 7 done; doing: Prove it", if its items have boxes, else its words. Null: there is no plan.';

create or replace function _plan_left_out(p_entry work_ledger)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select format('No longer in this plan, and not done: %s. List %s as dropped, or add %s.',
           string_agg(format('%s "%s"', b.n, _one_line(b.text, 120)), ', ' order by b.n),
           case count(*) when 1 then 'it' else 'them' end, case count(*) when 1 then 'it' else 'them' end)
    from _plan_of((p_entry).work_item_id, (p_entry).seq - 1) b
   where (p_entry).entry_type = 'plan' and b.state in ('open', 'doing')
     and not exists (select from _plan_parts((p_entry).content) i where lower(i.text) = lower(b.text))
  having count(*) > 0;
$$;

comment on function _plan_left_out(work_ledger) is 'What a new plan does not mention: items of the previous plan that were neither done nor dropped. Null: nothing.';
