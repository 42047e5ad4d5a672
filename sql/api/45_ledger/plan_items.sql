-- A plan consists of items with a state. They are part of the entry's text, so that every reader of the ledger sees them: a plan's entry begins
-- with its items ("2. [/] Prove it"), and a step's ends with what it did to them ("Plan: 1 done; 2 doing").

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
    perform _raise_invalid(format('only a plan can have items, not %s', _an(p_entry_type)));
  elsif (p_done is not null or p_doing is not null) and p_entry_type is distinct from 'step' then
    perform _raise_invalid(format('only a step can have done and doing, not %s', _an(p_entry_type)));
  elsif array_ndims(p_done) > 1 or cardinality(p_done) > 100 or array_position(p_done, null) is not null then
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
    or exists (select from jsonb_array_elements(case jsonb_typeof(p_items) when 'array' then p_items end) i
                where jsonb_typeof(i) <> 'object' or jsonb_typeof(i -> 'text') is distinct from 'string' or i ->> 'text' !~ '\S'
                   or coalesce(i ->> 'state', 'open') <> all (_plan_states())) then
    perform _raise_invalid('items must be a list of 1 to 100 {"text": ..., "state": ...}',
      format('text says what to do; state is %s (default: open).', array_to_string(_plan_states(), ', ')));
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
    or exists (select from jsonb_array_elements(case jsonb_typeof(p_numbers) when 'array' then p_numbers end) n
                where jsonb_typeof(n) <> 'number' or n::text !~ '^[0-9]{1,3}$') then
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
