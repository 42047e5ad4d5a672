-- The answer to a step about files: those that it asks to keep but nobody has read, and those that leave because it does not ask to keep them.

create or replace function _keep_answer(p_step work_ledger)
  returns text
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_unknown text[];
  v_missing text[];
  v_leaving text[];
begin
  if p_step.entry_type <> 'step' then
    return null;
  elsif p_step.keep is not null then
    v_unknown := _keep_unknown(p_step);
    -- A list of whole files needs no walk.
    if exists (select from unnest(p_step.keep) u(name) where _keep_path(u.name) <> u.name) then
      v_missing := _keep_missing(p_step);
    end if;
    return nullif(concat_ws(' ',
      case when cardinality(v_unknown) > 0 then
        format('keep: %s %s never read.', _list(v_unknown, 20), case cardinality(v_unknown) when 1 then 'was' else 'were' end) end,
      case when cardinality(v_missing) > 0 then
        format('keep: %s %s not found in what you have seen; the whole file stays if it fits.', _list(v_missing, 20),
               case cardinality(v_missing) when 1 then 'was' else 'were' end) end), '');
  end if;
  v_leaving := _keep_leaving(p_step);
  return case when cardinality(v_leaving) > 0 then format(
    'When this block closes, %s %s your context; list %s in keep to retain %s.', _list(v_leaving, 6),
    case cardinality(v_leaving) when 1 then 'leaves' else 'leave' end, case cardinality(v_leaving) when 1 then 'it' else 'them' end,
    case cardinality(v_leaving) when 1 then 'it' else 'them' end) end;
end
$$;

comment on function _keep_answer(work_ledger) is
  'What a step is told about what it keeps: names that match nothing, or no part of their file; without a list, the files that its block edited and that leave with it. Null: nothing to report.';

create or replace function _keep_unknown(p_step work_ledger)
  returns text[]
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with line as (
    select p_step.work_item_id
    union all
    select f.work_item_id from work_items w, _forked_at(w.fork_turn_id) f where w.id = p_step.work_item_id
  )
  select array(
    select _one_line(u.name, 200)
      from unnest(_keep_names(p_step.keep)) with ordinality as u(name, n)
     where not exists (
             select from line l join touches x on x.work_item_id = l.work_item_id where x.action <> 'search' and _is_named(u.name, x.target))
       and not (lower(u.name) ~ '^[0-9a-f]{16,64}$' and exists (
             select from artifacts a where a.content_hash >= lower(u.name) and a.content_hash < lower(u.name) || 'g'))
     order by u.n);
$$;

comment on function _keep_unknown(work_ledger) is 'The names of a step''s keep that no call of the conversation read or wrote, and that are no handles.';

create or replace function _keep_missing(p_step work_ledger)
  returns text[]
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select array_agg(_one_line(p.target, 200) order by p.n)
    from turns t
   cross join lateral _kept_parts(t, t.depth, p_step.keep, t.depth) p
   where t.id = p_step.turn_id and p.has_part and p.first_line is null;
$$;

comment on function _keep_missing(work_ledger) is 'The names of a step''s keep whose file has been seen, but not the part that they name; null: none.';

create or replace function _keep_leaving(p_step work_ledger)
  returns text[]
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select array_agg(
           _one_line(f.target, 200) || case f.times when 1 then ' (edited)' when 2 then ' (edited twice)' else format(' (edited %s times)', f.times) end
           order by f.last)
    from (select x.target, count(*) as times, max(array[u.n, k.ordinal]) as last
            from turns t
            join foci f on f.id = t.focus_id
           cross join lateral unnest(_turns_of_block(t.id, t.block)) with ordinality as u(turn_id, n)
            join tool_calls k on k.turn_id = u.turn_id and k.status = 'completed'
            join touches x on x.tool_call_id = k.id and x.kind = 'path' and x.action in ('create', 'modify')
           where t.id = p_step.turn_id and (_faculty_config(f) #>> '{engage,truncate_closed_blocks}')::boolean
           group by x.target) f
   where not exists (select from unnest(_keep_names(_keep_at(p_step.work_item_id, p_step.seq))) u(name) where _is_named(u.name, f.target));
$$;

comment on function _keep_leaving(work_ledger) is 'The files edited in the block that a step closes which neither it nor the step before keeps, with how often; null: none.';
