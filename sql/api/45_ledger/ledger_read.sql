-- The ledger as rows, as lines, and as the text that agents read.

create or replace function ledger_read(
    p_work_item_id uuid,
    p_entry_type text default null,
    p_last_n integer default null,
    p_is_everything boolean default false)
  returns setof work_ledger
  language plpgsql
  stable
  rows 100
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if p_entry_type is not null then
    perform _check_word('an entry type', p_entry_type, _ledger_entry_types());
  end if;
  if p_last_n < 1 then
    perform _raise_invalid(format('last_n must be 1 or more, not %s', p_last_n));
  end if;
  if not exists (select from work_items where id = p_work_item_id) then
    perform _raise_not_found('work item', p_work_item_id);
  end if;
  return query
    select *
      from (select *
              from work_ledger
             where work_item_id = p_work_item_id and (p_entry_type is null or entry_type = p_entry_type)
                and (p_is_everything or seq > (select ledger_epoch from work_items where id = p_work_item_id))
             order by seq desc
             limit p_last_n) newest
     order by seq;
end
$$;

comment on function ledger_read(uuid, text, integer, boolean) is
  'The entries of a work item''s ledger, in order. p_entry_type: only entries of this type. p_last_n: only the newest. p_is_everything: also entries of abandoned attempts (recover.mode = "fresh"). Raises WL001, WL002.';

create or replace function ledger_read_lines(
    p_work_item_id uuid,
    p_entry_type text default null,
    p_last_n integer default null)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select coalesce(string_agg(format('[%s] %s: %s', e.seq, e.entry_type,
             coalesce(
               '(taken back: ' || _one_line(r.content, 240) || ')',
               _indent(e.content, '    ')
                 || coalesce(' [stale: ' || _one_line(x.file, 120) || ' has changed since]', ''))),
           E'\n' order by e.seq), '(no entries)')
    from ledger_read(p_work_item_id, p_entry_type, p_last_n) e
    left join work_ledger r on r.work_item_id = e.work_item_id and r.retracts = e.seq
   cross join lateral (select _stale_file(e.work_item_id, e.content, e.created_at, e.tool_call_id)) as x(file)
   where e.retracts is null;
$$;

comment on function ledger_read_lines(uuid, text, integer) is
  'ledger_read() as text for a model: "[seq] type: content" for each entry, with continuation lines indented. A retracted entry shows only the reason; an entry whose file has changed since says so. Raises WL001, WL002.';

create or replace function ledger_read_formatted(p_work_item_id uuid)
  returns text
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if not exists (select from work_items where id = p_work_item_id) then
    perform _raise_not_found('work item', p_work_item_id);
  end if;
  return _ledger_format(p_work_item_id);
end
$$;

comment on function ledger_read_formatted(uuid) is
  'The whole ledger of a work item as text for a model''s context, in sections: PLAN (the latest), FINDINGS, STEPS COMPLETED, DECISIONS, ERRORS, NOTES. Empty sections are left out. Raises WL001.';

create or replace function _ledger_format(
    p_work_item_id uuid,
    p_since_seq integer default 1,
    p_until_seq integer default 2147483647,
    p_is_own boolean default false)
  returns text
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select E'=== WORK LEDGER (your durable working memory) ===\n\n'
         || coalesce(string_agg(s.heading || E':\n' || s.lines, E'\n\n' order by s.position), '(no entries)')
    from (
      select h.position, h.heading, concat_ws(E'\n',
               case when count(*) filter (where not l.is_shown) > 0 then format('- (%s older, in ledger_read)', count(*) filter (where not l.is_shown)) end,
               string_agg('- ' || coalesce('[' || l.block || '] ', '') || _indent(l.content, '  '), E'\n' order by l.seq) filter (where l.is_shown)) as lines
        from (values (1, 'plan', 'PLAN'), (2, 'finding', 'FINDINGS'), (3, 'step', 'STEPS COMPLETED'),
                     (4, 'decision', 'DECISIONS'), (5, 'error', 'ERRORS'), (6, 'note', 'NOTES')) as h(position, entry_type, heading)
        join lateral (
          select w.seq, w.entry_type = 'plan' or w.seq >= p_since_seq as is_shown,
                 case
                   when w.entry_type = 'plan' then _plan_text(w, p_until_seq)
                   else w.content end as content,
                 case when p_is_own and w.entry_type = 'step' then (select t.block from turns t where t.id = w.turn_id) end as block
            from work_ledger w
           where w.work_item_id = p_work_item_id and w.entry_type = h.entry_type and w.seq <= p_until_seq
             and not (p_is_own and w.entry_type in ('plan', 'note'))
             and w.seq > (select ledger_epoch from work_items where id = p_work_item_id)
             and not _is_retracted(p_work_item_id, w.seq, p_until_seq)
             and (w.entry_type <> 'plan'
               or w.seq = (_newest_plan(p_work_item_id, p_until_seq)).seq)) l on true
       group by h.position, h.heading
    ) s;
$$;

comment on function _ledger_format(uuid, integer, integer, boolean) is 'The text of ledger_read_formatted(), up to entry p_until_seq. Entries before p_since_seq are only counted. p_is_own: as the agent itself is shown it next to standing(), which has plan and notes; steps begin with the block number for recall_block().';

create or replace function _ledger_block(p_work_item_id uuid, p_max_chars integer, p_until_seq integer default 2147483647)
  returns text
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_block text := _ledger_format(p_work_item_id, p_until_seq => p_until_seq, p_is_own => true);
  v_since integer;
begin
  if char_length(v_block) <= p_max_chars then
    return v_block;
  end if;
  -- The newest entries that fit.
  select min(e.seq) into v_since
    from (select seq, sum(char_length(content) + 10) over (order by seq desc) as chars
            from work_ledger
           where work_item_id = p_work_item_id and entry_type not in ('plan', 'note') and seq <= p_until_seq
             and seq > (select ledger_epoch from work_items where id = p_work_item_id)) e
   where e.chars <= p_max_chars * 3 / 4 - 500;
  return _ledger_format(p_work_item_id, coalesce(v_since, 2147483647), p_until_seq, true);
end
$$;

comment on function _ledger_block(uuid, integer, integer) is 'The text of ledger_read_formatted() in about p_max_chars characters: the newest entries, and the number of older ones; steps with their block numbers; without plan and notes, which standing() has.';
