-- A plan is items with a state. They stand in the entry's own words, so that whoever reads the ledger reads them: the entry of a plan
-- begins with its items ("2. [/] Prove it"), that of a step ends with what it did to them ("Plan: 1 done; 2 doing").

create or replace function _plan_states()
  returns text[]
  language sql
  immutable
  parallel safe
  return array['open', 'doing', 'done', 'dropped'];

comment on function _plan_states() is 'The states of an item of a plan.';

create or replace function _plan_box(p_state text)
  returns text
  language sql
  immutable
  parallel safe
  return case p_state when 'doing' then '[/]' when 'done' then '[x]' when 'dropped' then '[-]' else '[ ]' end;

comment on function _plan_box(text) is 'The box before an item of a plan.';

create or replace function _entry_with_plan(p_entry_type text, p_content text, p_items jsonb, p_done integer[], p_doing integer)
  returns text
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if p_items is not null and p_entry_type is distinct from 'plan' then
    perform _raise_invalid(format('only a plan can have items, not a %s', p_entry_type));
  elsif (p_done is not null or p_doing is not null) and p_entry_type is distinct from 'step' then
    perform _raise_invalid(format('only a step can have done and doing, not a %s', p_entry_type));
  elsif array_ndims(p_done) > 1 or cardinality(p_done) > 100 then
    perform _raise_invalid('done must be a list of numbers of the plan''s items');
  elsif p_doing = any (p_done) then
    perform _raise_invalid(format('item %s cannot be both done and being done', p_doing));
  elsif p_items is not null then
    return concat_ws(E'\n\n', _plan_lines(p_items), case when p_content ~ '\S' then p_content end);
  end if;
  return p_content || coalesce(E'\nPlan: ' || nullif(concat_ws('; ',
    nullif(array_to_string(array(select distinct n from unnest(p_done) n order by n), ', '), '') || ' done', p_doing || ' doing'), ''), '');
end
$$;

comment on function _entry_with_plan(text, text, jsonb, integer[], integer) is
  'The content of an entry with the items of a plan, or with what a step did to them. p_items: [{text, state?}]. Raises WL002.';

create or replace function _plan_lines(p_items jsonb)
  returns text
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if jsonb_typeof(p_items) <> 'array' or jsonb_array_length(p_items) not between 1 and 100
    or exists (select from jsonb_array_elements(p_items) i
                where jsonb_typeof(i) <> 'object' or jsonb_typeof(i -> 'text') is distinct from 'string' or i ->> 'text' !~ '\S'
                   or coalesce(i ->> 'state', 'open') <> all (_plan_states())) then
    perform _raise_invalid('items must be a list of 1 to 100 {"text": ..., "state": ...}',
      format('text says what is to do; state is %s; without one it is open.', array_to_string(_plan_states(), ', ')));
  end if;
  return (select string_agg(format('%s. %s %s', n, _plan_box(i ->> 'state'), _one_line(i ->> 'text', 1000)), E'\n' order by n)
            from jsonb_array_elements(p_items) with ordinality as x(i, n));
end
$$;

comment on function _plan_lines(jsonb) is 'Items of a plan as the lines that a plan begins with. Raises WL002.';

create or replace function _plan_numbers(p_numbers jsonb)
  returns integer[]
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if coalesce(jsonb_typeof(p_numbers), 'null') = 'null' then
    return null;
  elsif jsonb_typeof(p_numbers) <> 'array'
    or exists (select from jsonb_array_elements(p_numbers) n where jsonb_typeof(n) <> 'number' or n::text !~ '^[0-9]{1,3}$') then
    perform _raise_invalid('done must be a list of numbers of the plan''s items');
  end if;
  return nullif(array(select n::integer from jsonb_array_elements(p_numbers) n), '{}');
end
$$;

comment on function _plan_numbers(jsonb) is 'A JSON list of numbers of items as an array; null for null or an empty list. Raises WL002.';

create or replace function _plan_number(p_number jsonb)
  returns integer
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if jsonb_typeof(p_number) not in ('number', 'null') or (jsonb_typeof(p_number) = 'number' and p_number::text !~ '^[0-9]{1,3}$') then
    perform _raise_invalid('doing must be the number of an item of the plan');
  end if;
  return (nullif(p_number, 'null'))::integer;
end
$$;

comment on function _plan_number(jsonb) is 'A JSON number of an item. Null for null. Raises WL002.';

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

create or replace function _plan_parts(p_plan text)
  returns table (n integer, text text, state text)
  language sql
  immutable
  parallel safe
  rows 10
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with form as (
    select case
             when p_plan ~ '^1\. \[[ x/-]\] ' then 'written'
             when p_plan ~ '(?n)^\s*(?:\d+[.)]\s|(?:[-*+•]\s*)?(?:\[[ xX/>~-]\]|✓|✔|~~))' then 'numbered'
             when p_plan ~ '(?n)^\s*[-*+•]\s' then 'listed'
             else 'said' end as form
  ), part as (
    select l.part, l.n, f.form
      from form f
     cross join lateral regexp_split_to_table(
             case f.form when 'written' then regexp_replace(p_plan, E'\n\n.*$', '') else p_plan end,
             case when f.form in ('written', 'listed') then '\n'
                  when f.form = 'numbered' then '\n|\s(?=\d+[.)]\s)'
                  else '\n|;\s|,\s*then\s' end) with ordinality as l(part, n)
  )
  select row_number() over (order by p.n)::integer,
         _one_line(regexp_replace(p.part, '^\s*(?:[-*+•]\s|\d+[.)])?\s*(?:\[[ xX/>~-]\]|✓|✔|~~|done:)?\s*|~~\s*$', '', 'g'), 1000),
         case
           when p.part ~ '^\s*(?:[-*+•]\s|\d+[.)])?\s*(?:\[[xX]\]|✓|✔|done:)' then 'done'
           when p.part ~ '^\s*(?:[-*+•]\s|\d+[.)])?\s*(?:\[-\]|~~)' then 'dropped'
           when p.part ~ '^\s*(?:[-*+•]\s|\d+[.)])?\s*\[[/>~]\]' then 'doing'
           else 'open' end
    from part p
   where p.part ~ '\S'
     and case p.form
           when 'numbered' then p.part ~ '^\s*(?:\d+[.)](?:\s|$)|(?:[-*+•]\s*)?(?:\[[ xX/>~-]\]|✓|✔|~~))'
           when 'listed' then p.part ~ '^\s*[-*+•]\s'
           else true end;
$$;

comment on function _plan_parts(text) is
  'The items of a plan with the state that its words give them: the lines that it begins with, if it was recorded with items; else its numbered lines and check boxes ([x] and done: are done, [-] and ~~ dropped, [/] doing), else its list, else its lines and parts.';

create or replace function _plan_items(p_plan text)
  returns text[]
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select array(select i.text from _plan_parts(p_plan) i where i.state in ('open', 'doing') order by i.state = 'doing' desc, i.n);
$$;

comment on function _plan_items(text) is 'The items of a plan that are not done, those first that are being done.';

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
      -- Whoever begins an item has left the one before.
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
  elsif v_item.work_type = 'import' then
    return query select e.content, v_item.resolved_at from _recorded_entries(v_item) e where e.entry_type = 'plan' and e.content ~ '\S';
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

comment on function _newest_plan(uuid, integer) is 'The newest plan up to an entry that was not taken back. Null: there is none.';

create or replace function _step_ticks(p_content text)
  returns table (done integer[], doing integer)
  language sql
  immutable
  parallel safe
  rows 1
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce(string_to_array(m[1], ', ')::integer[], '{}'), m[2]::integer
    from regexp_match(p_content, '\nPlan: (?:(\d{1,3}(?:, \d{1,3})*) done)?(?:; )?(?:(\d{1,3}) doing)?$') m
   where m is not null;
$$;

comment on function _step_ticks(text) is 'What a step did to the items of the plan, from the last line of its content. No row: nothing.';

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
  select format('Not in this plan any more, and not done: %s. Name %s as dropped, or add %s.',
           string_agg(format('%s "%s"', b.n, _one_line(b.text, 120)), ', ' order by b.n),
           case count(*) when 1 then 'it' else 'them' end, case count(*) when 1 then 'it' else 'them' end)
    from _plan_of((p_entry).work_item_id, (p_entry).seq - 1) b
   where (p_entry).entry_type = 'plan' and b.state in ('open', 'doing')
     and not exists (select from _plan_parts((p_entry).content) i where lower(i.text) = lower(b.text))
  having count(*) > 0;
$$;

comment on function _plan_left_out(work_ledger) is 'What a new plan says nothing of: the items of the plan before it that were neither done nor dropped. Null: nothing.';
